import { delimiter } from 'node:path';

/**
 * What a worker process inherits of the gateway's environment: what programs need to find
 * themselves, and what tunes native code. A token of the model hub is for the gateway's
 * downloads: engines open folders. Nothing else: the gateway's own settings and secrets
 * (`SWITCHYARD_…`, keys, database urls) are none of its business, and `NODE_OPTIONS` such
 * as `--inspect` cannot be shared. `replicas: [{ env: … }]` adds to it.
 */
const INHERITED_VARIABLES: readonly RegExp[] = [
  /^(PATH|HOME|USER|SHELL|LANG|LANGUAGE|TZ|TMPDIR|NODE_COMPILE_CACHE)$/,
  /^(LC|XDG)_/,
  /^(DY)?LD_LIBRARY_PATH$/,
  // Certificate authorities, for engines that call servers.
  /^(SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS)$/,
  // How a person calls this product, for errors that say what to install.
  /^npm_command$/,
  /^(CUDA|NVIDIA|NCCL|CUDNN|ROCR|HIP|HSA)_/,
  /^(ONNXRUNTIME|ORT|OMP|KMP|GOMP|MKL|OPENBLAS|HF(?!_TOKEN$))_/,
];

/** Settings of pip and npm, which may name an index of one's own with its password; proxies. */
const TOOL_VARIABLES: readonly RegExp[] = [
  ...INHERITED_VARIABLES,
  /^(PIP|npm_config|GGML|VK)_/i,
  /^(https?|no|all)_proxy$/i,
  /^(LOGNAME|TERM|TMP|TEMP|NODE_USE_ENV_PROXY|\w+_CA_BUNDLE)$/,
];

const selected = (base: NodeJS.ProcessEnv, rules: readonly RegExp[]): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(base).filter(([name]) => rules.some(rule => rule.test(name))));

export const inheritedEnvironment = (base: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  selected(base, INHERITED_VARIABLES);

/**
 * The environment for a command of somebody else that this product runs, such as pip, npm
 * and ldd. Tokens and keys of other programs stay here, whatever their name.
 */
export const toolEnvironment = (
  added: Readonly<Record<string, string>> = {},
  base: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv => ({ ...selected(base, TOOL_VARIABLES), ...added });

/** Where programs without a path are looked for. */
export const programFolders = (): readonly string[] => (process.env.PATH ?? '').split(delimiter);

/**
 * The part of the traces that begin here which is recorded, 0 to 1 (1). OpenTelemetry is
 * configured by its own variables. Undefined without an endpoint: nothing is traced.
 */
export function tracedShare(): number | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } =
    process.env;
  return (all ?? traces ?? '') === ''
    ? undefined
    : Number(process.env.OTEL_TRACES_SAMPLER_ARG || 1);
}

/**
 * Where the person stood who typed the command: names of files on the command line start
 * there. npm runs its scripts in the package's folder and keeps the other one in
 * INIT_CWD, which our launcher does as well.
 */
export const launchDirectory = (): string => process.env.INIT_CWD ?? process.cwd();

/** For a command of another folder and its settings file. */
export const environmentOf = (folder: string, config: string): NodeJS.ProcessEnv => ({
  ...process.env,
  INIT_CWD: folder,
  SWITCHYARD_CONFIG: config,
});

/**
 * Where the command line finds a gateway, and the key it shows there; no settings
 * of the gateway.
 */
export const GATEWAY_VARIABLES = {
  url: 'SWITCHYARD_URL',
  key: 'SWITCHYARD_API_KEY',
} as const;

export const gatewayFromEnvironment = () => ({
  url: process.env[GATEWAY_VARIABLES.url] || undefined,
  key: process.env[GATEWAY_VARIABLES.key] || undefined,
});

/** Access token of the hub, under the name that its own programs use. */
export const hubToken = (): string | undefined => process.env.HF_TOKEN || undefined;
