import { HEARTBEAT_MS } from '../heartbeat.js';
import { MAX_EVENTS } from '../keys.js';
import { orderScript } from './redis-order-scripts.js';

/** A gateway that was silent for so long has died, if whoever sees it was there all the time. */
const SILENT_MS = 3 * HEARTBEAT_MS;

/**
 * What all scripts of places share: "while a slot is free and somebody waits: grant". A place
 * is an entry of the order without payload, `base .. ID`, whose body is in its gateway. ARGV
 * beside those of the order: the gateway that calls, `queue.aging_ms`, `queue.aging_share`.
 *
 * Keys below `slots`: `gateways` by their latest heartbeat, `since` when the series of theirs
 * began; of each gateway what it can send to, `of:GATEWAY`: an account and its credits,
 * overdraft, and requests there that were not granted; `leases` by place: gateway, account;
 * `used` and `most` by account: granted slots, and how many suspects it may have at once (D-38);
 * `parked:GATEWAY` by place: what is not in the order, since its gateway reaches no worker.
 */
const GRANTS = `
local me, agingMs, share = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local slots = shares .. 'slots:'
local gateways, since, leases = slots .. 'gateways', slots .. 'since', slots .. 'leases'
local used, most, active = slots .. 'used', slots .. 'most', base .. 'active'
local LOCK_MS = 86400000
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local granted = {}
-- Some gateway has a worker, busy or not.
local isServed = true

local function accounts()
  local all = {}
  for _, gateway in ipairs(redis.call('ZRANGE', gateways, 0, -1)) do
    local flat = redis.call('HGETALL', slots .. 'of:' .. gateway)
    for at = 1, #flat, 2 do
      local name = flat[at]
      local credits, over, extra = string.match(flat[at + 1], '(%d+) (%d+) (%d+)')
      local one = all[name]
      if not one then
        local suspects = tonumber(redis.call('HGET', most, name) or '')
        one = { credits = math.huge, over = math.huge, used = tonumber(redis.call('HGET', used, name)) or 0, most = suspects, by = {} }
        all[name] = one
      end
      one.credits, one.over = math.min(one.credits, credits), math.min(one.over, over)
      one.used = one.used + extra
      one.by[gateway] = true
    end
  end
  return all
end

-- Free slots, and those with the overdraft. Suspects share an account with suspects only.
local function room(one, alone)
  local free, urgent = one.credits - one.used, one.credits + one.over - one.used
  if one.used > 0 and (alone == nil) ~= (one.most == nil) then return 0, 0 end
  if alone then
    local left = math.min(alone, one.most or alone) - one.used
    free, urgent = math.min(free, left), math.min(urgent, left)
  end
  return math.max(0, free), math.max(0, urgent)
end

local function hasRoom(all)
  for _, one in pairs(all) do if one.credits + one.over > one.used then return true end end
  return false
end

local function named(list, name) return string.find('\\n' .. (list or '') .. '\\n', '\\n' .. name .. '\\n', 1, true) end

-- The one with the largest share free, or the first of its favourites that is not clearly fuller.
local function accountFor(all, place)
  local usable, left, best, bestUrgent, urgentLeft = {}, {}, nil, nil, 0
  for name, one in pairs(all) do
    if one.by[place.gateway] then usable[#usable + 1] = name end
  end
  table.sort(usable)
  local others = 0
  for _, name in ipairs(usable) do if not named(place.avoid, name) then others = others + 1 end end
  for _, name in ipairs(usable) do
    local one = all[name]
    local free, urgent = room(one, place.alone)
    if others == 0 or not named(place.avoid, name) then
      left[name] = free / one.credits
      if free > 0 and left[name] > (best and left[best] or 0) then best = name end
      if urgent / one.credits > urgentLeft then bestUrgent, urgentLeft = name, urgent / one.credits end
    end
  end
  if not best then return place.lane == REALTIME and bestUrgent or nil end
  for name in string.gmatch(place.prefer or '', '[^\\n]+') do
    if (left[name] or 0) > 0 and left[best] - left[name] <= 0.25 then return name end
  end
  return best
end

local function reaches(all, gateway)
  for _, one in pairs(all) do if one.by[gateway] then return true end end
  return false
end

-- Out of the order until its gateway reaches a worker: at the head it would block all gateways.
local function park(job, gateway)
  redis.call('ZREM', line(job.lane, job.owner), job.id)
  closedIfEmpty(job.lane, job.owner)
  redis.call('HSET', slots .. 'parked:' .. gateway, job.id, job.lane .. ' ' .. string.format('%.17g', job.since))
end

local function unpark()
  local parked = redis.call('HGETALL', slots .. 'parked:' .. me)
  for at = 1, #parked, 2 do
    local id, lane, since = parked[at], string.match(parked[at + 1], '^(%d) (.+)$')
    redis.call('ZADD', line(lane, ownerOf(id)), since, id)
    opened(lane, ownerOf(id))
  end
  redis.call('DEL', slots .. 'parked:' .. me)
end

local function lease(all, job, place, name)
  redis.call('ZREM', prioritized, job.id)
  redis.call('HSET', leases, job.id, place.gateway .. ' ' .. name)
  redis.call('HINCRBY', used, name, 1)
  if place.alone then
    all[name].most = math.min(place.alone, all[name].most or place.alone)
    redis.call('HSET', most, name, all[name].most)
  end
  all[name].used = all[name].used + 1
  local aged = isAged(job, nowMs - agingMs) and 1 or job.lane
  redis.call('HSET', base .. job.id, 'pb', name, 'processedOn', nowMs, 'ats', 1, 'priority', aged)
  redis.call('SET', base .. job.id .. ':lock', place.gateway, 'PX', LOCK_MS)
  redis.call('LPUSH', active, job.id)
  if place.gateway == me then granted[#granted + 1], granted[#granted + 2] = job.id, name
  else redis.call('PUBLISH', slots .. 'granted:' .. place.gateway, nowMs .. ' ' .. job.id .. ' ' .. name) end
end

local function grant()
  if redis.call('EXISTS', slots .. 'waits') == 1 then return granted end
  local all = accounts()
  isServed = next(all) ~= nil
  while hasRoom(all) do
    local job, credit = chosen(share, nowMs - agingMs)
    if not job then break end
    local known = redis.call('HMGET', base .. job.id, 'gateway', 'prefer', 'avoid', 'alone')
    local place = { gateway = known[1], prefer = known[2], avoid = known[3], alone = tonumber(known[4] or ''), lane = job.lane }
    local name = accountFor(all, place)
    if name then
      charged(job, credit)
      lease(all, job, place, name)
    elseif reaches(all, place.gateway) then break
    else park(job, place.gateway) end
  end
  return granted
end

-- It gives back its slot, or does not wait any longer.
local function gone(id)
  local held = redis.call('HGET', leases, id)
  if held then
    local name = string.match(held, '^%S+ (.+)$')
    redis.call('HDEL', leases, id)
    redis.call('LREM', active, 1, id)
    if redis.call('HINCRBY', used, name, -1) <= 0 then redis.call('HDEL', used, name) redis.call('HDEL', most, name) end
  end
  redis.call('ZREM', prioritized, id)
  leave(REALTIME, id)
  leave(BATCH, id)
  redis.call('DEL', base .. id, base .. id .. ':lock')
  redis.call('SREM', slots .. 'places:' .. me, id)
  if redis.call('HDEL', slots .. 'parked:' .. me, id) == 1 then redis.call('HDEL', costs, id) end
end

local function forgotten(gateway)
  for _, id in ipairs(redis.call('SMEMBERS', slots .. 'places:' .. gateway)) do gone(id) end
  for _, id in ipairs(redis.call('HKEYS', slots .. 'parked:' .. gateway)) do redis.call('HDEL', costs, id) end
  redis.call('DEL', slots .. 'of:' .. gateway, slots .. 'places:' .. gateway, slots .. 'parked:' .. gateway)
  redis.call('ZREM', gateways, gateway)
  redis.call('HDEL', since, gateway)
end
`;

const placeScript = (main: string) => orderScript(`${GRANTS}\n${main}`);

/** The Lua scripts of `SharedPlaces`, by name. Each returns the places that the caller was granted. */
export const PLACE_SCRIPTS = {
  /**
   * ARGV[6] its id, [7] class, [8] epoch milliseconds of its arrival, [9] what it shows to who
   * lists it, as JSON, [10] cost, [11] favourite accounts, [12] accounts to avoid, [13] how many
   * suspects may be together or '', [14] weight of its tenant, [15] 1 when its last charge is
   * returned.
   */
  enter: placeScript(`
local id, class, cost = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[10])
local owner = ownerOf(id)
if ARGV[14] == '1' then redis.call('HDEL', weights, owner)
else redis.call('HSET', weights, owner, ARGV[14]) redis.call('EXPIRE', weights, WEIGHTS_TTL) end
if ARGV[15] == '1' then correct(class, owner, -cost) end
gone(id)
local key = base .. id
redis.call('HSET', key, 'timestamp', ARGV[8], 'data', ARGV[9], 'gateway', me, 'prefer', ARGV[11], 'avoid', ARGV[12], 'alone', ARGV[13])
redis.call('HSET', key, 'opts', cjson.encode({ priority = class, cost = cost }))
redis.call('SADD', slots .. 'places:' .. me, id)
local nth = redis.call('INCR', slots .. 'entered')
redis.call('ZADD', prioritized, class * C + nth % 4096, id)
enter(id, class * C + nth % 4096)
grant()
-- The gateway that loads models on devices hears of the first one at once.
if not isServed then redis.call('XADD', base .. 'events', 'MAXLEN', '~', ${MAX_EVENTS}, '*', 'event', 'waiting', 'jobId', id) end
return granted`),

  /** ARGV[6..]: places that have ended or no longer wait. */
  leave: placeScript(`
for at = 6, #ARGV do gone(ARGV[at]) end
return grant()`),

  /** ARGV[6] class, [7] tenant as in ids, [8] device milliseconds beyond what it was charged. */
  settle: placeScript(`
correct(tonumber(ARGV[6]), ARGV[7], tonumber(ARGV[8]))
return granted`),

  /**
   * The heartbeat of a gateway. ARGV[6] 1 when it holds nothing, [7..] accounts and what it has
   * there. Returns whether its places are known, gateways, its number among them, its leases
   * as pairs of place and account, and grants; of all gateways REALTIME and BATCH that wait, and
   * leases.
   */
  beat: placeScript(`
local last = tonumber(redis.call('ZSCORE', gateways, me) or '')
local isNew = redis.call('EXISTS', gateways) == 0
if not last or nowMs - last > ${SILENT_MS} then redis.call('HSET', since, me, nowMs) end
if not last then forgotten(me) redis.call('HSET', since, me, nowMs) end
redis.call('ZADD', gateways, nowMs, me)
local mine = slots .. 'of:' .. me
redis.call('DEL', mine)
for at = 7, #ARGV, 2 do redis.call('HSET', mine, ARGV[at], ARGV[at + 1]) end
if ARGV[7] then unpark() end
-- Redis lost its memory: what others run is known when they were heard.
if isNew and ARGV[6] ~= '1' then redis.call('SET', slots .. 'waits', 1, 'PX', ${SILENT_MS}) end
if nowMs - tonumber(redis.call('HGET', since, me)) > ${SILENT_MS} then
  for _, silent in ipairs(redis.call('ZRANGEBYSCORE', gateways, '-inf', nowMs - ${SILENT_MS})) do forgotten(silent) end
end
local waits = redis.call('EXISTS', slots .. 'waits')
local held = {}
for _, id in ipairs(redis.call('SMEMBERS', slots .. 'places:' .. me)) do
  local account = redis.call('HGET', leases, id)
  if account then held[#held + 1], held[#held + 2] = id, string.match(account, '^%S+ (.+)$') end
end
-- What it holds itself is known with its next heartbeat.
if last or ARGV[6] == '1' then grant() end
local all = redis.call('ZRANGE', gateways, 0, -1)
table.sort(all)
local number = 0
for at, name in ipairs(all) do if name == me then number = at - 1 end end
local realtime = redis.call('ZCOUNT', prioritized, C, '(' .. BATCH * C)
local batch = redis.call('ZCARD', prioritized) - realtime
return { last and 1 or 0, waits, #all, number, held, granted, realtime, batch, redis.call('LLEN', active) }`),

  /** The gateway shuts down: releases everything that it had. */
  close: placeScript(`
forgotten(me)
return grant()`),
};
