// WatermelonWire
