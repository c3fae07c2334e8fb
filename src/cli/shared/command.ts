import { Argument, Command, Option } from 'commander';
import { type ModelSpec, snakeCase } from '../../platform/config/model-spec.js';
import { type EngineCheck } from '../../platform/config/models-file.js';
import { EXIT, InterruptedError } from './cli-error.js';
import { GatewayClient, type GatewayMethod, type GatewayPath } from './gateway-client.js';
import { print, printJson } from './terminal.js';

/** What the engines say about models; passed in by the program, which has them. */
export interface EngineChecks {
  /** Options that the engine rejects, and why. */
  readonly objections: EngineCheck;
  /**
   * What the files of a model take, such as memory.
   * @throws Error that says what is missing
   */
  readonly checkFiles: (model: ModelSpec) => string | undefined;
}

/** Loads the engines' checks, which are large: only commands that need them do. */
export type LoadEngines = () => Promise<EngineChecks>;

/** Options of every command that talks to a gateway. */
const GATEWAY_OPTIONS = {
  '--url <url>': 'the gateway (default: SWITCHYARD_URL, else the host and port of these settings)',
  '--api-key <key>':
    'its API key, which other users of this machine may see (default: SWITCHYARD_API_KEY)',
  '--key-file <file>': 'file that holds the API key and nothing else',
} as const;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/*
 * Commander types the values of an option by the call that adds it, in a chain. Here a command is
 * one declaration, so the types below read them from its flags: no flag is written twice.
 */

/** How the words behind an option or argument are read: one of a list, or by a parser. */
type Reading = readonly string[] | ((text: string, before: never) => unknown) | undefined;

/** An option or argument: what it is, how it is read, its default, and how the help shows that. */
type PlainSpec = string | readonly [string, Reading, default_?: unknown, shown?: string];
type WordSpec = PlainSpec | Option;

type ListOr<Flags, T> = Flags extends `${string}...${string}` ? readonly T[] : T;
type Read<Flags, R> = R extends (text: string, before: never) => infer T
  ? T
  : ListOr<Flags, R extends readonly (infer T)[] ? T : string>;
type ValueOf<Flags, Spec> = Spec extends Option
  ? string
  : Spec extends readonly [string, infer R, ...infer Default]
    ? Read<Flags, R> | (Default extends readonly [] ? undefined : never)
    : Flags extends `${string}<${string}`
      ? ListOr<Flags, string> | undefined
      : Flags extends `${string}[${string}`
        ? string | true | undefined
        : boolean | undefined;
type Camel<Name> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : Name;
type NameOf<Flags> = Flags extends `${string}--no-${infer Name}`
  ? Camel<Name>
  : Flags extends `${string}--${infer Name}`
    ? Camel<Name extends `${infer Word} ${string}` ? Word : Name>
    : never;

/** The values of options by their names, as commander gives them: `--no-load` is `load`. */
export type OptionValues<Options> = {
  readonly [Flags in keyof Options as NameOf<Flags>]: ValueOf<Flags, Options[Flags]>;
} & { readonly json?: boolean };

/** The value of the argument in `list [words...]`. */
type ArgumentOf<Words, Spec> = Words extends `${string}...${string}`
  ? readonly string[]
  : Words extends `${string}<${string}`
    ? string
    : Spec extends readonly [string, unknown, string]
      ? string
      : string | undefined;

interface CommandSpec<Options, Arg, Spec, Answer> {
  readonly about: string;
  /** What the argument is, how it is read, and its default. */
  readonly arg?: Spec;
  /** Usage line, in place of the one that is made from the argument. */
  readonly usage?: string;
  readonly options?: Options;
  /**
   * What `--json` prints (default with `text`: the answer of the gateway, if it has one);
   * true: one JSON document. Without `json` and `text` there is no such option.
   */
  readonly json?: string | true;
  /** Command lines without the program's name; `notes` follow them in the help. */
  readonly examples?: readonly string[];
  readonly notes?: string;
  /** Text of the help in place of `examples` and `notes`. */
  readonly help?: string;
  /** @returns what `--json` prints; undefined: all is written. `ok: false` is exit code 1 */
  run(context: Invocation<Options, Arg>): Promise<Answer> | Answer;
  /** The answer as text for people. */
  text?(answer: NonNullable<Answer>): string;
}

/** One call of a command. */
export class Invocation<Options, Arg> {
  readonly #stopped = new AbortController();
  #isInterruptible = false;
  readonly #stop = () => this.#stopped.abort(new InterruptedError());

  constructor(
    readonly command: Command,
    readonly engines: LoadEngines,
  ) {}

  get options(): OptionValues<Options> {
    return this.command.opts();
  }

  get arg(): Arg {
    return this.command.processedArgs[0] as Arg;
  }

  /**
   * Aborted by the first Ctrl-C or SIGTERM, so that the command can clean up; the second
   * ends the process as usual. So does the first in commands that do not read this.
   */
  get signal(): AbortSignal {
    if (!this.#isInterruptible) for (const name of SIGNALS) process.once(name, this.#stop);
    this.#isInterruptible = true;
    return this.#stopped.signal;
  }

  /**
   * A client of the gateway that the options name; `signal` ends its requests.
   * @throws CliError exit code 2: the options are wrong
   */
  get client(): GatewayClient {
    return new GatewayClient(this.command.opts(), this.signal);
  }

  /** @throws what `work` throws, or InterruptedError */
  async run(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      // fetch wraps the reason; the message should say that the user stopped it.
      throw this.#stopped.signal.aborted ? this.#stopped.signal.reason : error;
    } finally {
      for (const name of SIGNALS) process.off(name, this.#stop);
    }
  }
}

/** Makes a command of the program; what engines say is known only there. */
type CommandFactory = (engines: LoadEngines) => Command;

/**
 * The options and the argument that are declared give `run` its types. The words are the
 * name of the command and its argument, such as `cancel <id>`.
 */
const declaring =
  (gateway: boolean) =>
  <
    const Words extends string,
    const Options extends Readonly<Record<string, WordSpec>>,
    const Spec extends PlainSpec,
    Answer,
  >(
    words: Words,
    spec: CommandSpec<Options, ArgumentOf<Words, Spec>, Spec, Answer>,
  ): CommandFactory =>
  engines => {
    const made = declared(words, gateway, spec);
    return made.action(() => {
      const invocation = new Invocation<Options, ArgumentOf<Words, Spec>>(made, engines);
      return invocation.run(async () => {
        const answer = await spec.run(invocation);
        if (answer == null) return;
        if (invocation.options.json) printJson(answer);
        else if (spec.text) print(spec.text(answer));
        if ((answer as { ok?: boolean }).ok === false) process.exitCode = EXIT.failed;
      });
    });
  };

export const command = declaring(false);
/** A command whose first options are `--url` and the key. */
export const gatewayCommand = declaring(true);

/**
 * The `run` of a command that is one request: its argument is the id in the path, and the
 * options that are named are the query.
 */
export const oneRequest = <
  M extends GatewayMethod,
  P extends GatewayPath,
  Name extends string = never,
>(
  method: M,
  path: P,
  ...names: readonly Name[]
) => ({
  run({ client, arg, options }: Asked<Name>) {
    const query = names.map(name => [snakeCase(name), options[name]] as const);
    return client.call(method, path, { id: arg, query: Object.fromEntries(query) });
  },
});

interface Asked<Name extends string> {
  readonly client: GatewayClient;
  readonly arg: string | undefined;
  readonly options: Readonly<Record<Name, string | number | undefined>>;
}

export const commandGroup =
  (name: string, about: string, commands: readonly CommandFactory[]): CommandFactory =>
  engines =>
    commands.reduce(
      (parent, make) => parent.addCommand(make(engines)),
      new Command(name).description(about),
    );

function declared<Options, Arg>(
  words: string,
  gateway: boolean,
  { about, options, ...spec }: CommandSpec<Options, Arg, PlainSpec, unknown>,
) {
  const [name, argument] = words.split(' ');
  const made = new Command(name).description(about);
  if (spec.usage !== undefined) made.usage(spec.usage);
  if (argument) made.addArgument(described(new Argument(argument), spec.arg ?? ''));
  if (gateway) addOptions(made, GATEWAY_OPTIONS);
  addOptions(made, options ?? {});
  if (spec.json ?? spec.text) made.option('--json', aboutJson(spec.json ?? !gateway));
  return made.addHelpText('after', spec.help ?? examples(spec));
}

function aboutJson(json: string | boolean): string {
  if (json === false) return 'the answer of the gateway as one JSON document';
  return json === true ? 'one JSON document' : json;
}

function addOptions(made: Command, options: Readonly<Record<string, WordSpec>>) {
  for (const [flags, option] of Object.entries(options))
    made.addOption(option instanceof Option ? option : described(new Option(flags), option));
}

/** Describes an option or argument as it was declared. */
function described<T extends Argument | Option>(word: T, spec: PlainSpec) {
  const [about, reading, initial, shown] = typeof spec === 'string' ? [spec] : spec;
  word.description = about;
  if (typeof reading === 'function')
    word.argParser(reading as (text: string, before: unknown) => unknown);
  else if (reading) word.choices(reading);
  if (initial !== undefined) word.default(initial, shown);
  return word;
}

/** Lines without the program's name, or pipes with it; then what else is good to know. */
function examples({
  examples: lines = [],
  notes = '',
}: Pick<CommandSpec<unknown, unknown, unknown, unknown>, 'examples' | 'notes'>) {
  const shown = lines.map(line =>
    line.includes('| switchyard ') ? `  ${line}` : `  switchyard ${line}`,
  );
  return `\nExamples:\n${shown.join('\n')}${notes && `\n\n${notes}`}`;
}
