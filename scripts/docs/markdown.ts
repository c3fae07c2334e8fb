export const code = (text: string): string => `\`${text}\``;

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

const WIDTH = 120;

/** A bulleted list. Long items go on in the next line; code is not broken. */
export const list = (items: readonly string[]): string => items.map(item).join('\n');

function item(text: string): string {
  const lines: string[] = [];
  let line = '-';
  for (const word of text.match(/(?:`[^`]*`|[^ `])+/g) ?? []) {
    if (line.length + word.length >= WIDTH) {
      lines.push(line);
      line = ' ';
    }
    line += ` ${word}`;
  }
  return [...lines, line].join('\n');
}
