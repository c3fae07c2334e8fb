import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
/**
 * One `data:` frame of a server-sent event stream. JSON has no raw newline, so one
 * line is enough.
 */
export function sseData(event: object): string {
  return `data: ${writeJson(event)}\n\n`;
}

/**
 * The frame of an event that names its type. @param json on one line: an object, or one
 * that is written already
 */
export function sseEvent(type: string, json: object | Buffer): string {
  return `event: ${type}\n${Buffer.isBuffer(json) ? `data: ${json.toString('utf8')}\n\n` : sseData(json)}`;
}

const NEWLINES = /[\r\n]+/g;

/**
 * Another program's JSON on one line, as an event must be: outside of strings, where JSON
 * has none, it is a space.
 */
export const onOneLine = (json: Buffer): Buffer =>
  json.includes('\n') || json.includes('\r')
    ? Buffer.from(json.toString('utf8').replace(NEWLINES, ' '))
    : json;

/** The frame that ends OpenAI's transcript streams. */
export const SSE_DONE = 'data: [DONE]\n\n';

export const SSE_CONTENT_TYPE = 'text/event-stream; charset=utf-8';
