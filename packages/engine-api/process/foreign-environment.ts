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
