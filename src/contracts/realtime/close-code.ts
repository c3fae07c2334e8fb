/** Why a realtime socket is closed (RFC 6455 §7.4.1). 1007 and oversized 1009 frames are closed by the WebSocket library. */
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
