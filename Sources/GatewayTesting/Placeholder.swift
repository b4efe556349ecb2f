// GatewayTesting
