import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { jinjaRenderer } from '@switchyard/engine-llama-cpp/native/backends.js';
import { ChatTemplate } from '@switchyard/engine-llama-cpp/native/chat-template.js';
import { chatMessages } from '../../../src/worker/generation/chat-messages.js';

/** README.md beside them says where they are from. */
const FOLDER = new URL('../../fixtures/chat-templates/', import.meta.url);
const TEMPLATES = readdirSync(FOLDER).filter(name => name.endsWith('.jinja'));

const TOOL = {
  type: 'function',
  function: {
    name: 'book',
    description: 'Books a table.',
    parameters: {
      type: 'object',
      properties: { place: { type: 'string', description: 'Where' } },
      required: ['place'],
    },
  },
};
const LONG = '1234567890123456789';
const GIVEN = `{"place": "Adler \\"Süd\\"", "at": ${LONG}, "more": {"list": [1, true, {"deep": 2.50}]}}`;

function rendered(source: string, messages: Parameters<typeof chatMessages>[0]): string {
  const texts = { bos: '<s>', eos: '</s>', control: ['<s>', '</s>'] };
  return new ChatTemplate(source, jinjaRenderer(), texts)
    .render({ messages: chatMessages(messages), tools: [TOOL] })
    .map(({ text }) => text)
    .join('');
}

/** The prompt for the third turn of a tool loop. */
function promptOf(source: string, given: string): string {
  const called = (id: string, text: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'book', arguments: text } }],
  });
  return rendered(source, [
    { role: 'user', content: 'A table at the Adler, please.' },
    called('call_1', given),
    { role: 'tool', tool_call_id: 'call_1', content: 'no table' },
    { role: 'assistant', content: 'They are full.' },
    { role: 'user', content: 'And later?' },
    called('call_2', given),
    { role: 'tool', tool_call_id: 'call_2', content: 'booked' },
  ]);
}

describe('a tool loop of three turns', () => {
  it('is tried with at least twenty published templates', () => {
    expect(TEMPLATES.length).toBeGreaterThanOrEqual(20);
  });

  it.each(TEMPLATES)('stands whole in the prompt of %s', name => {
    const source = readFileSync(new URL(name, FOLDER), 'utf8');
    const prompt = promptOf(source, GIVEN);
    for (const text of ['no table', 'They are full.', 'And later?', 'booked'])
      expect(prompt).toContain(text);
    const calls = prompt.split('And later?');
    for (const part of calls) {
      for (const value of ['Adler', 'Süd', LONG, 'deep', '2.50']) expect(part).toContain(value);
      // Neither JSON in a JSON text nor an object as Python prints it.
      expect(part).not.toMatch(/\\"place|'place'|\[object/);
    }
    expect(promptOf(source, '')).toBe(promptOf(source, '{}'));
  });
});

describe('arguments of earlier calls', () => {
  const tools = '{% for tool in tools or [] %}{{ tool | tojson }}{% endfor %}';
  const eachCall = (call: string) =>
    `${tools}{% for m in messages %}{% for call in m.tool_calls or [] %}${call}{% endfor %}{% endfor %}`;
  const walking = eachCall(
    '{% for k, v in call.function.arguments.items() %}{{ k }}={{ v }};{% endfor %}',
  );
  const printing = eachCall('{{ call.function.arguments }}');

  it('are the object where the template walks it, and the text where it prints it', () => {
    expect(promptOf(walking, '{"a": 1}')).toContain('a=1;a=1;');
    expect(promptOf(printing, '{"a":  1}')).toContain('{"a":  1}{"a":  1}');
  });

  it('that are no object are refused in words where the template walks them', () => {
    expect(() => promptOf(walking, 'soon')).toThrow(
      'The chat template of this model reads only JSON objects as arguments of earlier calls; got "soon".',
    );
    expect(promptOf(printing, 'soon')).toContain('soonsoon');
  });

  it('stand in the text of the answer where the template leaves calls out', () => {
    const content = `${tools}{% for m in messages %}{{ m.content }}{% endfor %}`;
    expect(promptOf(content, '{"a": 1}')).toContain(
      '<tool_call>\n{"name":"book","arguments":{"a":1}}\n</tool_call>',
    );
  });
});

describe('two calls in one message', () => {
  const call = (id: string) => ({
    ...{ id, type: 'function' },
    function: { name: 'book', arguments: `{"place": "at ${id}"}` },
  });
  const messages = [
    { role: 'user', content: 'Two tables, please.' },
    { role: 'assistant', content: 'I try.', tool_calls: [call('call_1'), call('call_2')] },
    { role: 'tool', tool_call_id: 'call_2', content: 'second booked' },
    { role: 'tool', tool_call_id: 'call_1', content: 'first booked' },
  ];

  it.each(TEMPLATES)('stand in the prompt of %s, with their results', name => {
    const prompt = rendered(readFileSync(new URL(name, FOLDER), 'utf8'), messages);
    for (const text of ['at call_1', 'at call_2', 'first booked', 'second booked'])
      expect(prompt).toContain(text);
  });

  it('are two messages, each with its result, where the template takes one call a message', () => {
    const line =
      '{{ m.role }}: {% if m.tool_calls %}{{ m.tool_calls[0].function.arguments }}{% else %}' +
      '{{ m.content }}{% endif %};';
    const tools = '{% for tool in tools or [] %}{{ tool | tojson }}{% endfor %};';
    for (const check of [
      '',
      `{% if m.tool_calls and m.tool_calls | length != 1 %}{{ raise_exception("one at a time") }}{% endif %}`,
    ]) {
      const source = `${tools}{% for m in messages %}${check}${line}{% endfor %}`;
      const [, ...turns] = rendered(source, messages).split(';');
      expect(turns.slice(0, 5)).toEqual([
        'user: Two tables, please.',
        'assistant: {"place": "at call_1"}',
        'tool: first booked',
        'assistant: {"place": "at call_2"}',
        'tool: second booked',
      ]);
    }
  });
});
