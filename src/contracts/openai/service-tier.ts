/** OpenAI's `service_tier`; `fast` is a newer name of `priority`. */
export const SERVICE_TIERS = ['auto', 'default', 'flex', 'scale', 'priority', 'fast'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** Asks for REALTIME; everything else for BATCH. */
export const isUrgent = (tier: ServiceTier): boolean => tier === 'priority' || tier === 'fast';
