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

  it('passes as many lines and bytes as it may, and a problem less than it reports', () => {
    const lines = [1, 2, 3, 4, 5].map(number => line(`${number}`));
    expect(check(lines.join('\n')).passed).toBe(true);
    const maxLineBytes = line('a').length;
    expect(check(line('a'), { maxLineBytes }).passed).toBe(true);
    const long = check(line('ab'), { maxLineBytes });
    expect(long.problems).toEqual([
      {
        code: 'line_too_long',
        message: `The line has ${maxLineBytes + 1} bytes; the maximum is ${maxLineBytes}.`,
        ...{ param: null, line: 1 },
      },
    ]);
    const bad = (count: number) => check('no json\n'.repeat(count), { maxLines: 1000 });
    expect([99, 100].map(count => bad(count).decided)).toEqual([false, true]);
    expect(check('').decided).toBe(true);
  });

  it('puts what is wrong with the file before what is wrong with its lines, 100 of both', () => {
    const both = check(`${'no json\n'.repeat(100)}${line('a')}`, { maxLines: 100, lenient: true });
    expect([both.problems[0]!.code, both.problems.length, both.passed]).toEqual([
      ...['too_many_lines', 100, false],
    ]);
    expect(both.problems.at(-1)!.line).toBe(99);
  });

  it('has the entries of its valid lines by model, where they are in the file', () => {
    const lines = [line('a'), 'no json', line('b', 'n'), line('c')];
    const { entries, rejected, problems } = check(lines.join('\n'), { lenient: true });
    const offsets = [0, 1, 2, 3].map(at => lines.slice(0, at).join('\n').length + (at ? 1 : 0));
    const entry = (at: number) => ({
      offset: offsets[at],
      length: lines[at]!.length,
      prefixHash: 0,
    });
    expect([...entries]).toEqual([
      ['m', [entry(0), entry(3)]],
      ['n', [entry(2)]],
    ]);
    expect([rejected, problems.length]).toEqual([1, 1]);
  });

  it('takes lines of a model that it has, though there is no room for another', () => {
    const found = new InputCheck({ ...RULES, maxModels: 1, lenient: true });
    const added = [line('a'), line('b', 'n'), line('c')].map(text => {
      const bytes = Buffer.from(text);
      return found.add({ offset: 0, length: bytes.length, bytes, hasBreak: true });
    });
    expect(added.map(invalid => invalid && [invalid.customId, invalid.problem.code])).toEqual([
      ...[undefined, ['b', 'too_many_models'], undefined],
    ]);
  });

  it.each([
    [1023, true],
    [1024, false],
  ])('takes a line of %i blanks as blank: %s', (blanks, isBlank) => {
    const text = `${line('a')}\n${' '.repeat(blanks)}\n`;
    expect(check(text, { maxLineBytes: 5000 }).passed).toBe(isBlank);
  });

  it.each([
    [[0xff, 0xfe, 0x41], 'UTF-16'],
    [[0xfe, 0xff, 0x41], 'UTF-16'],
    [[0xff, 0xff, 0x41], 'not valid UTF-8'],
    [[0xfe, 0xfe, 0x41], 'not valid UTF-8'],
    [[0x41, 0, 0x42, 0, 0x43, 0], 'UTF-16'],
    [[0, 0x41, 0, 0x42, 0, 0x43], 'UTF-16'],
    [[0, 0x41], 'UTF-16'],
    [[0x41, 0x42, 0, 0x43, 0, 0x44], 'at byte 3,'],
    [[0, 0, 0x41], 'at byte 1,'],
    [[0x41, 0, 0x42, 0x43], 'at byte 2,'],
    [[...Buffer.from('{"a":1}'.padEnd(16), 'utf16le'), 0x41, 0x42, 0x43, 0x44], 'UTF-16'],
  ])('says of the bytes %j: %s', (bytes, message) => {
    const found = new InputCheck(RULES);
    found.add({ offset: 0, length: bytes.length, bytes: Buffer.from(bytes), hasBreak: true });
    expect(found.problems.map(problem => problem.message)).toEqual([
      expect.stringContaining(message),
    ]);
  });

  it('holds a custom_id of 22 and of 23 characters to be used', () => {
    for (const length of [22, 23]) {
      const id = 'x'.repeat(length);
      expect(codes(check([id, `${id.slice(1)}y`, id].map(each => line(each)).join('\n')))).toEqual([
        [3, 'duplicate_custom_id'],
      ]);
    }
  });
});
