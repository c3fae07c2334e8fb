import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';

/**
 * Messages for a chat template that knows no tools: these are declared in the system
 * message, and calls and results stand as texts, in the form of Hermes.
 * @param hasSystem false: the template has no place for a system message, so the first
 *   message of the user begins with it
 */
export function withoutTools(
  messages: readonly Fields[],
  tools: unknown,
  hasSystem: boolean,
): readonly Fields[] {
  const plain = joinedResults(messages.map(callsAsText));
  if (!Array.isArray(tools) || tools.length === 0) return plain;
  const declared = declaration(tools);
  const role = hasSystem ? 'system' : 'user';
  const [first, ...rest] = plain;
  if (first?.role !== role) return [{ role, content: declared }, ...plain];
  return [{ ...first, content: `${textOf(first)}\n\n${declared}` }, ...rest];
}

/** Results that follow one another are one message: many templates want the roles to alternate. */
function joinedResults(messages: readonly Fields[]): readonly Fields[] {
  const joined: Fields[] = [];
  let results: string[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') {
      results = [];
      joined.push(message);
      continue;
    }
    if (results.length > 0) joined.pop();
    results.push(`<tool_response>\n${textOf(message)}\n</tool_response>`);
    joined.push({ role: 'user', content: results.join('\n') });
  }
  return joined;
}

/** A message whose calls stand in its text, in the form of Hermes. */
export function callsAsText({ tool_calls: calls, ...message }: Fields): Fields {
  if (!Array.isArray(calls)) return message;
  const texts = calls.map(call => {
    const { function: called } = call as { readonly function: object };
    return `<tool_call>\n${writeJson(called)}\n</tool_call>`;
  });
  const said = textOf(message);
  return { ...message, content: [...(said ? [said] : []), ...texts].join('\n') };
}

const textOf = ({ content }: Fields): string => (typeof content === 'string' ? content : '');

/** The words that models of this form were trained on. */
const declaration = (tools: readonly unknown[]): string =>
  `# Tools

You may call one or more of these functions, declared as JSON between <tools> and </tools>:
<tools>
${tools.map(tool => writeJson(tool)).join('\n')}
</tools>

For each call answer with a JSON object between <tool_call> and </tool_call>:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>`;
