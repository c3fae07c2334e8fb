import { type MemberSpec } from './servers.mjs';

export interface ClusterPlan {
  readonly folder: string;
  readonly ports: {
    readonly redis: number;
    readonly postgres: number;
    readonly proxy: number;
  };
  readonly env: NodeJS.ProcessEnv;
  readonly graceMs: number;
}

export function switchyardMembers(plan: ClusterPlan): Promise<{
  gateway(number: number, port: number): MemberSpec;
  worker(model: string, number: number, port: number): MemberSpec;
  processor(number: number, port: number): MemberSpec;
}>;
