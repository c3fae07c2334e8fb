/** OpenAI's `service_tier`; `priority` asks for REALTIME, everything else for BATCH (DESIGN §4 "Queue"). */
export const SERVICE_TIERS = ['auto', 'default', 'flex', 'priority'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];
