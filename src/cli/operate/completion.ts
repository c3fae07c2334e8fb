import type { Command, Option } from 'commander';
import { command } from '../shared/command.js';
import { print } from '../shared/terminal.js';

/** What may follow the words of one command. */
interface Position {
  /** `switchyard models add` */
  readonly words: string;
  readonly next: readonly { readonly word: string; readonly about: string }[];
}

export const completionCommand = command('completion <shell>', {
  about: 'a script that completes commands and options in your shell',
  arg: ['your shell', ['bash', 'zsh', 'fish']],
  examples: [
    'completion bash > ~/.local/share/bash-completion/completions/switchyard',
    'completion zsh > "${fpath[1]}/_switchyard"',
    'completion fish > ~/.config/fish/completions/switchyard.fish',
  ],
  run({ command: { parent }, arg: shell }) {
    print({ bash, zsh, fish }[shell as 'bash'](positions(parent!)));
  },
});

function positions(parent: Command, above = ''): readonly Position[] {
  const words = `${above} ${parent.name()}`.trim();
  const commands = parent.commands.map(child => ({
    word: child.name(),
    about: child.description(),
  }));
  const options = parent.options.map((option: Option) => ({
    word: option.long ?? option.short ?? '',
    about: option.description,
  }));
  const choices = parent.registeredArguments.flatMap(({ argChoices = [] }) =>
    argChoices.map(word => ({ word, about: '' })),
  );
  const help = { word: '--help', about: 'display help for command' };
  return [
    { words, next: [...commands, ...choices, ...options, help] },
    ...parent.commands.flatMap(child => positions(child, words)),
  ];
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const plain = (text: string) => quoted(text.replaceAll(':', '\\:').replaceAll(/\s+/g, ' '));

/**
 * The words typed so far that are commands, as `$at`; bash and zsh both understand it.
 */
const walk = (all: readonly Position[], typed: string) => `  local at=switchyard word
  for word in ${typed}; do
    case "$at $word" in
      ${deeper(all).join(' | ')}) at="$at $word" ;;
    esac
  done`;

const deeper = (all: readonly Position[]): readonly string[] =>
  all.slice(1).map(({ words }) => quoted(words));
const cases = (all: readonly Position[], body: (next: Position['next']) => string) =>
  all.map(({ words, next }) => `    ${quoted(words)}) ${body(next)} ;;`).join('\n');

const bash = (all: readonly Position[]) => `# bash completion of switchyard
_switchyard() {
${walk(all, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  local words=''
  case "$at" in
${cases(all, next => `words=${quoted(next.map(({ word }) => word).join(' '))}`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _switchyard switchyard`;

const zsh = (all: readonly Position[]) => `#compdef switchyard
_switchyard() {
${walk(all, '"${words[@]:1:CURRENT-2}"')}
  local -a next
  case "$at" in
${cases(all, next => `next=(${next.map(zshItem).join(' ')})`)}
  esac
  _describe switchyard next || _files
}
_switchyard "$@"`;

const fish = (all: readonly Position[]) => `# fish completion of switchyard
function __switchyard_at
  set -l at switchyard
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${deeper(all).join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv"
end
${all.flatMap(({ words, next }) => next.map(item => fishLine(words, item))).join('\n')}`;

const zshItem = ({ word, about }: Position['next'][number]) =>
  plain(word) + (about && `':'${plain(about)}`);

function fishLine(words: string, { word, about }: Position['next'][number]) {
  const name = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${quoted(word)}`;
  return `complete -c switchyard -n ${quoted(`__switchyard_at ${words}`)} ${name}${about && ` -d ${quoted(about)}`}`;
}
