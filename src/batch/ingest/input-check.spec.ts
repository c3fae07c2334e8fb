import { describe, expect, it } from '@jest/globals';
import { LineSplitter } from '../../platform/storage/line-splitter.js';
import { InputCheck } from './input-check.js';

type InputRules = ConstructorParameters<typeof InputCheck>[0];

const RULES: InputRules = {
  endpoint: '/v1/embeddings',
  lenient: false,
  maxLines: 5,
  maxLineBytes: 200,
  maxModels: 256,
};
const line = (id: string, model = 'm') =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/embeddings',
    body: { model, input: 'x' },
  });

function check(text: string | Buffer, rules: Partial<InputRules> = {}): InputCheck {
  const input = new InputCheck({ ...RULES, ...rules });
  const splitter = new LineSplitter(rules.maxLineBytes ?? RULES.maxLineBytes);
  for (const found of splitter.push(Buffer.from(text))) input.add(found);
  for (const found of splitter.end()) input.add(found);
  input.finish();
  return input;
}

const codes = (input: InputCheck): [number | null, string][] =>
  input.problems.map(({ line, code }) => [line, code]);

describe('InputCheck', () => {
  it('passes good lines with BOM, CRLF, blank lines at the end, and without a last line break', () => {
    for (const text of [
      `\ufeff${line('a')}\r\n${line('b')}\r\n`,
      `${line('a')}\n${line('b')}\n\n \n`,
      `${line('a')}\n${line('b')}`,
    ])
      expect(check(text).passed).toBe(true);
  });

  it('skips a blank line, also in the middle, and counts it in the numbers of lines', () => {
    expect(check(`${line('a')}\n\n \n${line('b')}\n`).passed).toBe(true);
    expect(codes(check(`${line('a')}\n\n\n{}\n`))).toEqual([[4, 'missing_required_parameter']]);
  });

  it('reports a line over the limit and one that is no UTF-8, and continues', () => {
    const text = Buffer.concat([
      Buffer.from(`${line('x'.repeat(200))}\n`),
      Buffer.from([0xff, 0x0a]),
      Buffer.from(line('b')),
    ]);
    expect(codes(check(text))).toEqual([
      [1, 'line_too_long'],
      [2, 'invalid_json_line'],
    ]);
  });

  it('names the cause in a file that is UTF-16, with or without byte order mark, and at a NUL byte', () => {
    const utf16 = Buffer.from(line('a'), 'utf16le');
    const first = (text: Buffer) => check(text).problems[0]!.message;
    for (const bom of [[], [0xff, 0xfe]])
      expect(first(Buffer.concat([Buffer.from(bom), utf16]))).toContain('UTF-16');
    expect(first(utf16.swap16())).toContain('UTF-16');
    expect(first(Buffer.from(line('a').replace('x', '\0')))).toMatch(
      /NUL byte \(0x00\) at byte \d+/,
    );
  });

  it('refuses a file without lines, with too many lines, or with too many models, also when lenient', () => {
    expect(codes(check('\n\n', { lenient: true }))).toEqual([[null, 'empty_file']]);
    const six = [1, 2, 3, 4, 5, 6].map(number => line(`${number}`)).join('\n');
    const many = check(six, { lenient: true });
    expect(many.passed).toBe(false);
    expect(codes(many)).toEqual([[null, 'too_many_lines']]);
    const models = Array.from({ length: 257 }, (_, index) => line(`${index}`, `m${index}`)).join(
      '\n',
    );
    expect(codes(check(models, { maxLines: 1000 }))).toEqual([[257, 'too_many_models']]);
  });

  it('reports the first 100 problems of a strict file and is decided then; a lenient one counts them all', () => {
    const bad = 'no json\n'.repeat(150);
    expect(check(bad, { maxLines: 1000 }).problems).toHaveLength(100);
    expect(check(bad, { maxLines: 1000 }).decided).toBe(true);
    const lenient = check(bad, { maxLines: 1000, lenient: true });
    expect([lenient.passed, lenient.decided, lenient.rejected, lenient.problems.length]).toEqual([
      true,
      false,
      150,
      100,
    ]);
  });

  it('holds a custom_id to be used even when its line is bad, and long ones apart', () => {
    const wrong = line('a').replace('POST', 'GET');
    expect(codes(check(`${wrong}\n${line('a')}`))).toEqual([
      [1, 'invalid_method'],
      [2, 'duplicate_custom_id'],
    ]);
    const long = 'x'.repeat(60);
    expect(
      codes(check([`${long}1`, `${long}2`, `${long}1`].map(id => line(id)).join('\n'))),
    ).toEqual([[3, 'duplicate_custom_id']]);
  });
});
