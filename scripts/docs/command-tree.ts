import { type Command, type Help, type Option } from 'commander';
import { program } from '../../src/cli/program.js';
import { ENGINE_CHECKS } from '../../src/worker/engine-factory.js';

const WIDTH = 120;
/** Options of every command that talks to a gateway, which the page explains once. */
const GATEWAY_OPTIONS = ['--url', '--api-key', '--key-file'];
/** What else the page explains once: options by what the help says about them. */
const EXPLAINED: Readonly<Record<string, RegExp>> = {
  '--json': /(^| as )one JSON document$/,
  '--yes': /^do not ask for confirmation$/,
  '--tenant': /^whose, where several tenants have a request of that id$/,
  '--timings': /^report the time per phase on stderr$/,
};

/** The whole command line. */
export const COMMAND_LINE = program(() => Promise.resolve(ENGINE_CHECKS));

/**
 * Every command that does something, in the order of the help, with the words that call
 * it, without the program's name; groups are left out.
 */
export function leafCommands(
  command: Command,
  words = '',
): readonly { readonly words: string; readonly command: Command }[] {
  if (command.commands.length === 0) return [{ words, command }];
  return command.commands.flatMap(child => leafCommands(child, `${words} ${child.name()}`.trim()));
}

/** What `--help` prints without a terminal: 120 columns, no colours. */
export function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: part => (text += part),
    getOutHelpWidth: () => WIDTH,
  });
  command.outputHelp();
  return text.trimEnd();
}

/** The help as the manual shows it, without examples and what all commands have in common. */
export function manualHelpOf(command: Command): string {
  const before = command.configureHelp();
  const own = (each: Option) => !isCommon(each);
  command.configureHelp({
    visibleOptions: () => command.options.filter(own),
    commandUsage: each => usageOf(each),
  } satisfies Partial<Help>);
  const text = helpOf(command);
  command.configureHelp(before);
  return text
    .replace(/^Usage: /, '')
    .replaceAll(/^(Options|Arguments):\n/gm, '')
    .replace(/\nExamples:\n(?: {2}.*(?:\n|$))+/, '')
    .trimEnd();
}

const isCommon = ({ long, description }: Option): boolean =>
  GATEWAY_OPTIONS.includes(long ?? '') || EXPLAINED[long ?? '']?.test(description) === true;

function usageOf(command: Command): string {
  const common = command.options.filter(isCommon).map(({ long }) => long);
  const added = [
    ...(common.includes('--url') ? ['[gateway-options]'] : []),
    ...Object.keys(EXPLAINED).flatMap(long => (common.includes(long) ? [`[${long}]`] : [])),
    ...(command.options.length > common.length ? ['[options]'] : []),
  ];
  const parents = [];
  for (let each: Command | null = command; each; each = each.parent) parents.unshift(each.name());
  return [...parents, ...added, command.usage().replace(/^\[options\] ?/, '')].join(' ').trim();
}
