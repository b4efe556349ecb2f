// JSONBytes
