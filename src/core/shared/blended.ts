/**
 * An exponentially weighted mean, one value further.
 * @param mean of the values before; undefined: there are none
 * @param weight of the latest value, above 0 and at most 1
 */
export const blended = (
  mean: number | undefined,
  latest: number,
  weight: number,
): number => (mean === undefined ? latest : mean + weight * (latest - mean));
