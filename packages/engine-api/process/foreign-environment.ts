export const SECRET_VARIABLES: ReadonlySet<string> = new Set([
  'DATABASE_URL',
  'REDIS_URL',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OPENAI_API_KEY',
]);

/**
 * The environment for a process with foreign code in it, such as a native engine's: this
 * process's own without Switchyard's settings, among which are addresses and secrets.
 */
export function foreignEnvironment(
  added: Readonly<Record<string, string>>,
  environment: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const inherited = Object.entries(environment).filter(
    ([name]) => !name.startsWith('SWITCHYARD_') && !SECRET_VARIABLES.has(name),
  );
  return { ...Object.fromEntries(inherited), ...added };
}

/** What commands such as pip, npm and ldd need: places, languages, proxies, certificates, devices. */
const TOOL_VARIABLE = new RegExp(
  [
    '^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|LANG|LANGUAGE|LC_\\w+|TMPDIR|TMP|TEMP|LD_LIBRARY_PATH|XDG_\\w+)$',
    '^(?:https?_proxy|no_proxy|all_proxy|NODE_USE_ENV_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_\\w+|\\w+_CA_BUNDLE)$',
    '^(?:PIP|npm_config|CUDA|NVIDIA|GGML|VK)_\\w+$',
    '^(?:SystemRoot|ComSpec|PATHEXT|APPDATA|LOCALAPPDATA|USERPROFILE|ProgramFiles|ProgramData)$',
  ].join('|'),
  'i',
);

/**
 * The environment for a command of somebody else that this product runs: of its own only what
 * such commands need. Tokens and keys of other programs stay here, whatever their name.
 */
export function toolEnvironment(
  added: Readonly<Record<string, string>>,
  environment: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const needed = Object.entries(environment).filter(([name]) => TOOL_VARIABLE.test(name));
  return { ...Object.fromEntries(needed), ...added };
}
