export class RoundRobinProxy {
  constructor(targets: readonly string[]);
  listen(port: number, host: string): Promise<number>;
  get readyTargets(): string[];
  close(): Promise<void>;
  closeAll(): void;
}
