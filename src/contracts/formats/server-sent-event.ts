/** One `data:` frame of a server-sent event stream. JSON has no raw newline, so one line is enough. */
export function sseData(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** The frame that ends OpenAI's transcript streams. */
export const SSE_DONE = 'data: [DONE]\n\n';

export const SSE_CONTENT_TYPE = 'text/event-stream; charset=utf-8';
