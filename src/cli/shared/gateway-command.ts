import { Command, type Option } from 'commander';
import { interruptible } from './cli-error.js';
import { examples } from './examples.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from './gateway-client.js';
import { print, printJson } from './terminal.js';

export type OptionValues = Readonly<
  Record<string, string | number | boolean | object | undefined>
>;

/** A command that asks a gateway and prints its answer. */
export interface GatewayCommand<T> {
  readonly name: string;
  /** Such as `<id>`. */
  readonly args?: string;
  /**
   * In place of the one made of `args`, where arguments have a meaning by their order.
   */
  readonly usage?: string;
  readonly about: string;
  /** Without the program's name. */
  readonly examples: readonly string[];
  readonly notes?: string;
  readonly options?: readonly Option[];
  /** @param args as declared, without the optional ones that were left out */
  readonly ask: (
    client: GatewayClient,
    args: readonly string[],
    options: OptionValues,
  ) => Promise<T>;
  /** For people; `--json` prints the answer itself. */
  readonly text: (answer: T) => string;
}

export function gatewayCommand<T>({
  name,
  args = '',
  about,
  options = [],
  ...rest
}: GatewayCommand<T>): Command {
  const command = withGatewayOptions(new Command(name).description(about));
  if (args) command.arguments(args);
  if (rest.usage !== undefined) command.usage(rest.usage);
  for (const option of options) command.addOption(option);
  return command
    .option('--json', 'the answer of the gateway as one JSON document')
    .addHelpText('after', examples(rest.examples, rest.notes))
    .action(() =>
      interruptible(async () => {
        const values = command.opts<
          OptionValues & GatewayClientOptions & { json?: boolean }
        >();
        const answer = await rest.ask(new GatewayClient(values), command.args, values);
        if (values.json) printJson(answer);
        else print(rest.text(answer));
      }),
    );
}

export const commandGroup = (
  name: string,
  about: string,
  commands: readonly Command[],
): Command =>
  commands.reduce(
    (parent, command) => parent.addCommand(command),
    new Command(name).description(about),
  );

/** `?a=1&b=2` of the options that were given; empty without any. */
export function queryOf(options: OptionValues, names: readonly string[]): string {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = options[name] as string | number | boolean | undefined;
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}
