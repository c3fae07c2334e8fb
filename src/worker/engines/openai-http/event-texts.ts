import { DomainError } from '../../../core/errors/domain-error.js';

/**
 * No answer to one step of a generation is near this; what is larger is no event stream.
 */
const LONGEST_EVENT = 16_777_216;

const LINE_END = /\r\n|\n|\r/;

/**
 * The `data` of each server-sent event, in order, up to `[DONE]`. Takes what servers
 * really send: pieces cut anywhere, also inside a character or between CR and LF, any of
 * the three line ends, comments, other fields, several data lines, a last event without
 * its blank line.
 */
export class EventTexts {
  /** Whether the stream has ended. */
  complete = false;
  readonly #decoder = new TextDecoder();
  /** Of the line that has not ended, in the pieces that came: each is searched once. */
  #line: string[] = [];
  #lineLength = 0;
  /** CR or nothing: at the end of a piece it may be half of a CRLF. */
  #half = '';
  /** Lines of the event that has not ended. */
  #data: string[] = [];
  #length = 0;

  /** @throws DomainError for an event that is too large */
  take(piece: Buffer): readonly string[] {
    const texts = this.#read(this.#linesIn(this.#decoder.decode(piece, { stream: true })));
    if (this.#lineLength + this.#length > LONGEST_EVENT) throw endless();
    return texts;
  }

  end(): readonly string[] {
    return this.#read([...this.#linesIn(`${this.#decoder.decode()}\n`), '']);
  }

  /** The lines that end in this text. */
  #linesIn(text: string): readonly string[] {
    const all = this.#half + text;
    this.#half = all.endsWith('\r') ? '\r' : '';
    const [first = '', ...others] = all.slice(0, all.length - this.#half.length).split(LINE_END);
    this.#line.push(first);
    this.#lineLength += first.length;
    const last = others.pop();
    if (last === undefined) return [];
    const lines = [this.#line.join(''), ...others];
    this.#line = [last];
    this.#lineLength = last.length;
    return lines;
  }

  #read(lines: readonly string[]): readonly string[] {
    const texts: string[] = [];
    for (const line of lines) {
      if (line !== '') this.#add(line);
      else if (this.#data.length > 0) texts.push(...this.#event());
    }
    return texts;
  }

  #add(line: string): void {
    const colon = line.indexOf(':');
    if ((colon < 0 ? line : line.slice(0, colon)) !== 'data') return;
    const value = colon < 0 ? '' : line.slice(colon + 1);
    this.#data.push(value.startsWith(' ') ? value.slice(1) : value);
    this.#length += line.length;
  }

  #event(): readonly string[] {
    const data = this.#data.join('\n');
    this.#data = [];
    this.#length = 0;
    this.complete ||= data.trim() === '[DONE]';
    return this.complete ? [] : [data];
  }
}

const endless = (): DomainError =>
  new DomainError(
    'engine_failed',
    `The upstream sent an event of more than ${LONGEST_EVENT} characters.`,
  );
