import { DomainError } from '../../../core/shared/domain-error.js';

/** No answer to one step of a generation is near this; what is larger is no event stream. */
const LONGEST_EVENT = 16_777_216;
const LINE_END = /\r\n|\n|\r/;

/**
 * The `data` of each server-sent event, in order. Takes what servers really send: pieces cut anywhere, also inside a character or
 * between CR and LF, any of the three line ends, comments, other fields, several data lines, a last event without its blank line.
 *
 * @throws DomainError `engine_failed` for an event without end.
 */
export async function* eventData(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const event = new EventLines();
  let pending = '';
  for await (const piece of body) {
    pending += decoder.decode(piece, { stream: true });
    // A CR at the very end may be half of a CRLF.
    const held = pending.endsWith('\r') ? 1 : 0;
    const lines = pending.slice(0, pending.length - held).split(LINE_END);
    pending = (lines.pop() ?? '') + pending.slice(pending.length - held);
    for (const line of lines) {
      const data = event.take(line);
      if (data !== undefined) yield data;
    }
    if (pending.length + event.length > LONGEST_EVENT) throw endless();
  }
  for (const line of [...(pending + decoder.decode()).split(LINE_END), '']) {
    const data = event.take(line);
    if (data !== undefined) yield data;
  }
}

/** The lines of one event, until the blank one. */
class EventLines {
  #data: string[] = [];
  length = 0;

  /** @returns the data of the event that this line ends, if it has any. */
  take(line: string): string | undefined {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    if (name !== 'data') return undefined;
    const value = colon < 0 ? '' : line.slice(colon + 1);
    this.#data.push(value.startsWith(' ') ? value.slice(1) : value);
    this.length += line.length;
    return undefined;
  }

  #end(): string | undefined {
    const data = this.#data.length > 0 ? this.#data.join('\n') : undefined;
    this.#data = [];
    this.length = 0;
    return data;
  }
}

const endless = (): DomainError =>
  new DomainError('engine_failed', `The upstream sent an event of more than ${LONGEST_EVENT} characters.`);
