export const REFERENCE_MS: number;
export function workMs(times: number): number;
