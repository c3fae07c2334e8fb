/** How text is drawn where the request does not say. */
export const USUAL_SAMPLING = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
};

export type SamplingRequest = {
  readonly [Name in keyof typeof USUAL_SAMPLING]?: number | undefined;
};

/** What a request says of how its text is drawn. */
export const samplingIn = (request: SamplingRequest): SamplingRequest =>
  Object.fromEntries(
    Object.keys(USUAL_SAMPLING)
      .map(name => [name, request[name as keyof SamplingRequest]])
      .filter(([, value]) => value !== undefined),
  ) as SamplingRequest;
