import { number } from './field-types.js';

/** The fields that say how text is drawn. */
export const SAMPLING_TYPES = {
  temperature: number(0, 2),
  top_p: number(0, 1),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
};

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
