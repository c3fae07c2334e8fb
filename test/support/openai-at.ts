import OpenAI, { type ClientOptions } from 'openai';

/** The official SDK, unchanged, before the gateway at `url`; it retries nothing by itself. */
export const openaiAt = (url: string, options: ClientOptions = {}): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: 'unused', maxRetries: 0, ...options });
