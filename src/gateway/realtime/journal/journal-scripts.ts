/** KEYS: the session (a hash: owner, state), its events and its audio (lists). */

/**
 * ARGV: owner, 1 for the first write (which replaces what the same owner left there), milliseconds to live, state, events to drop, number of events, events…, audio to drop, audio or ''.
 * Returns 1: written; 0: another gateway has the session; -1: it is not there any more, as after a restart of Redis.
 */
export const WRITE = `
local exists = redis.call('EXISTS', KEYS[1]) == 1
if ARGV[2] == '1' then
  if exists and redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
elseif not exists then return -1
elseif redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'state', ARGV[4])
local n = tonumber(ARGV[6])
for i = 1, n do redis.call('RPUSH', KEYS[2], ARGV[6 + i]) end
if tonumber(ARGV[5]) > 0 then redis.call('LTRIM', KEYS[2], ARGV[5], -1) end
local audio = ARGV[8 + n]
if audio ~= '' then redis.call('RPUSH', KEYS[3], audio) end
if tonumber(ARGV[7 + n]) > 0 then redis.call('LTRIM', KEYS[3], ARGV[7 + n], -1) end
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ARGV[3]) end
return 1
`;

/** ARGV: new owner, tenant, digest of the secret. Returns state, events, audio; nothing for what it is not. From now on the old owner's writes are refused. */
export const ADOPT = `
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return false end
local known = cjson.decode(state)
if known.tenant ~= ARGV[2] or known.secretSha256 ~= ARGV[3] then return false end
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
return {state, redis.call('LRANGE', KEYS[2], 0, -1), redis.call('LRANGE', KEYS[3], 0, -1)}
`;

/** ARGV: owner. */
export const FORGET = `
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then redis.call('DEL', KEYS[1], KEYS[2], KEYS[3]) end
return 0
`;
