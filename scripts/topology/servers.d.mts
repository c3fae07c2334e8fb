/** What a member of a cluster is started with. */
export interface MemberSpec {
  readonly name: string;
  readonly kind: 'redis' | 'postgres' | 'gateway' | 'worker' | 'processor';
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly port: number;
  readonly stopSignal?: NodeJS.Signals;
  /** It gets an IPC channel, whose end shows that its parent is gone. */
  readonly tied?: boolean;
}

export interface ServerPlace {
  readonly folder: string;
  readonly port: number;
}

export function redisServer(place: ServerPlace): MemberSpec;
export function postgresServer(place: ServerPlace): MemberSpec;
export function postgresUrl(port: number): string;
export function listens(port: number): Promise<boolean>;
