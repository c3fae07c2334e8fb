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

/** The prompt for the third turn of a tool loop. */
function promptOf(source: string, given: string): string {
  const texts = { bos: '<s>', eos: '</s>', control: ['<s>', '</s>'] };
  const template = new ChatTemplate(source, jinjaRenderer(), texts);
  const called = (id: string, text: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'book', arguments: text } }],
  });
  const messages = chatMessages([
    { role: 'user', content: 'A table at the Adler, please.' },
    called('call_1', given),
    { role: 'tool', tool_call_id: 'call_1', content: 'no table' },
    { role: 'assistant', content: 'They are full.' },
    { role: 'user', content: 'And later?' },
    called('call_2', given),
    { role: 'tool', tool_call_id: 'call_2', content: 'booked' },
  ]);
  return template
    .render({ messages, tools: [TOOL] })
    .map(({ text }) => text)
    .join('');
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
