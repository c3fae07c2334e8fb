/**
 * Why a realtime socket is closed (RFC 6455 §7.4.1). The WebSocket library itself closes
 * with 1007 and 1009.
 */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  unsupportedData: 1003,
  policyViolation: 1008,
  tooBig: 1009,
  internalError: 1011,
  serviceRestart: 1012,
  tryAgainLater: 1013,
} as const;

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];
