/**
 * The address to listen on for a configured host. Fastify makes `localhost` two servers, for 127.0.0.1 and ::1, of which the second has
 * none of the listeners that are added to the first: half-open connections, upgrades and the end of the process would not reach it.
 */
export const listenHost = (host: string): string => (host.toLowerCase() === 'localhost' ? '127.0.0.1' : host);
