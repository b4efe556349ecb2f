// GatewayConfig
