import { createHash } from 'node:crypto';

/**
 * What all scripts share. KEYS: BullMQ's set of waiting jobs, accounts of the
 * queue, weights of tenants. ARGV: before BullMQ's keys of the queue, before the
 * keys of its accounts.
 *
 * Scores in BullMQ's set, in units of C: below 1 the jobs that go next, by the second of
 * their release; from 2.5 REALTIME and from 3.5 BATCH in order of acceptance; all others
 * are arrivals, where BullMQ placed them. A worker that knows nothing of this takes by
 * class and time. Accounts of a lane (2 REALTIME, 3 BATCH): waiting tenants and idle
 * ones by start tag, the jobs of each tenant by age, and the virtual time; of all
 * waiting jobs the cost.
 */
const SHARED = `
local prioritized, state, weights, base, shares = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local C, HALF, EPOCH_MS, REALTIME, BATCH = 0x100000000, 0x80000000, 1600000000000, 2, 3
local MOST_ARRIVALS, MOST_LISTED, MOST_IDLE, PAGE = 200, 1000, 1000, 32
-- Seconds. Debts are forgotten before the time they were counted in.
local IDLE_TTL, STATE_TTL, WEIGHTS_TTL = 3600, 7200, 86400
local costs = shares .. 'costs'
local OWNER = '^(t' .. string.rep('%x', 16) .. ')%.'

local function ownerOf(id) return string.match(id, OWNER) or 'open' end
local function waiting(lane) return shares .. lane .. ':waiting' end
local function idle(lane) return shares .. lane .. ':idle' end
local function line(lane, owner) return shares .. lane .. ':of:' .. owner end
local function sorted(lane) return lane * C + HALF end
local function waits(lane, id)
  local score = tonumber(redis.call('ZSCORE', prioritized, id))
  return score and score >= sorted(lane) and score < (lane + 1) * C
end
local function weightOf(owner) return tonumber(redis.call('HGET', weights, owner)) or 1 end
local function virtualTime(lane)
  local known = tonumber(redis.call('HGET', state, lane))
  return known or tonumber(redis.call('ZRANGE', waiting(lane), 0, 0, 'WITHSCORES')[2]) or 0
end

local function forget(lane)
  redis.call('ZREMRANGEBYSCORE', idle(lane), '-inf', virtualTime(lane))
  redis.call('ZREMRANGEBYRANK', idle(lane), 0, -1 - MOST_IDLE)
  redis.call('EXPIRE', idle(lane), IDLE_TTL)
  redis.call('EXPIRE', state, STATE_TTL)
end

local function opened(lane, owner)
  if redis.call('ZSCORE', waiting(lane), owner) then return end
  local tag = tonumber(redis.call('ZSCORE', idle(lane), owner)) or 0
  redis.call('ZREM', idle(lane), owner)
  redis.call('ZADD', waiting(lane), math.max(tag, virtualTime(lane)), owner)
end

local function closedIfEmpty(lane, owner)
  local tag = redis.call('ZSCORE', waiting(lane), owner)
  if not tag or redis.call('EXISTS', line(lane, owner)) == 1 then return end
  redis.call('ZREM', waiting(lane), owner)
  redis.call('ZADD', idle(lane), tag, owner)
  forget(lane)
end

local function correct(lane, owner, ms)
  local change = ms / weightOf(owner)
  if redis.call('ZSCORE', waiting(lane), owner) then return redis.call('ZINCRBY', waiting(lane), change, owner) end
  local tag = tonumber(redis.call('ZSCORE', idle(lane), owner))
  if not tag and ms <= 0 then return end
  redis.call('ZADD', idle(lane), math.max(tag or 0, virtualTime(lane)) + change, owner)
  forget(lane)
end

local function leave(lane, id)
  local owner = ownerOf(id)
  if redis.call('ZREM', line(lane, owner), id) == 0 then return end
  redis.call('HDEL', costs, id)
  closedIfEmpty(lane, owner)
end

-- Gives an arrival its place. One that was returned by a worker gets its charge back.
local function enter(id, score)
  local job = base .. id
  local known = redis.call('HMGET', job, 'opts', 'timestamp', 'charged', 'lane')
  if not known[2] then return redis.call('ZREM', prioritized, id) end
  local read, opts = pcall(cjson.decode, known[1] or '')
  if not read or type(opts) ~= 'table' then opts = {} end
  local lane = (tonumber(opts.priority) or math.floor(score / C)) <= REALTIME and REALTIME or BATCH
  local cost = math.min(math.max(tonumber(opts.cost) or 1, 0.001), 1e9)
  local owner, at = ownerOf(id), tonumber(known[2]) or 0
  if known[3] then
    correct(tonumber(known[4]) or lane, owner, -known[3])
    redis.call('HDEL', job, 'charged')
  end
  leave(REALTIME + BATCH - lane, id)
  redis.call('HSET', job, 'lane', lane, 'priority', lane)
  redis.call('HSET', costs, id, cost)
  redis.call('ZADD', prioritized, sorted(lane) + math.min(math.max((at - EPOCH_MS) / 1000, 0), HALF - 1), id)
  redis.call('ZADD', line(lane, owner), at + (score % 4096) / 4096, id)
  opened(lane, owner)
end

local ARRIVALS = { { C, sorted(REALTIME) }, { 3 * C, sorted(BATCH) }, { 4 * C, '+inf' } }

local function arrivals(range, most)
  return redis.call('ZRANGEBYSCORE', prioritized, range[1], '(' .. range[2], 'WITHSCORES', 'LIMIT', 0, most)
end

local function sort()
  for _, range in ipairs(ARRIVALS) do
    local found = arrivals(range, MOST_ARRIVALS)
    for at = 1, #found, 2 do enter(found[at], tonumber(found[at + 1])) end
  end
end

-- The tenant's oldest job; names of jobs that have left are dropped.
local function first(lane, owner)
  while true do
    local head = redis.call('ZRANGE', line(lane, owner), 0, 0, 'WITHSCORES')
    if not head[1] then return closedIfEmpty(lane, owner) end
    if waits(lane, head[1]) then
      return { id = head[1], owner = owner, lane = lane, since = tonumber(head[2]) }
    end
    redis.call('ZREM', line(lane, owner), head[1])
    redis.call('HDEL', costs, head[1])
  end
end

local function isAged(job, agedBefore) return job.lane == BATCH and job.since < agedBefore + 1 end

-- Its tenant is a suspect, and it has not aged.
local function yields(job, agedBefore)
  return job.since >= agedBefore + 1 and redis.call('EXISTS', shares .. 'suspect:' .. job.owner) == 1
end

-- The tenant with the smallest start tag; of equal ones, a page of them at most, the one with the older job.
-- Suspects go after all others (D-51).
local function nextOf(lane, agedBefore, agedOnly)
  local best, suspect, from, tenants = nil, nil, 0, nil
  repeat
    tenants = redis.call('ZRANGE', waiting(lane), from, from + PAGE - 1, 'WITHSCORES')
    for at = 1, #tenants, 2 do
      local tag = tonumber(tenants[at + 1])
      if best and tag > best.tag then return best end
      local job = first(lane, tenants[at])
      if job then
        from = from + 1
        job.tag = tag
        if isAged(job, agedBefore) or not agedOnly then
          if yields(job, agedBefore) then
            if not suspect or tag == suspect.tag and job.since < suspect.since then suspect = job end
          elseif not best or job.since < best.since then best = job end
        end
      end
    end
  until best or #tenants == 0
  return best or suspect
end

local function hasAged(agedBefore)
  local oldest = redis.call('ZRANGEBYSCORE', prioritized, sorted(BATCH), '(' .. 4 * C, 'WITHSCORES', 'LIMIT', 0, 1)
  if not oldest[1] then return false end
  return math.floor((oldest[2] - sorted(BATCH)) * 1000 + 0.5) + EPOCH_MS <= agedBefore
end

-- The job that has the turn, and the credit of aged turns once it has been taken.
local function chosen(share, agedBefore)
  local urgent = nextOf(REALTIME, agedBefore, false)
  local batch = nil
  if not urgent then batch = nextOf(BATCH, agedBefore, false)
  elseif hasAged(agedBefore) then batch = nextOf(BATCH, agedBefore, true) end
  local job, credit = urgent or batch, 0
  if urgent and batch then
    credit = (tonumber(redis.call('HGET', state, 'credit')) or 0) + share
    local agedNext = credit >= 1 - 1e-9
    if share == 1 then agedNext = batch.since < urgent.since end
    if agedNext then job, credit = batch, credit - 1 end
  end
  return job, credit
end

-- It has left for a worker.
local function charged(job, credit)
  if credit ~= 0 then redis.call('HSET', state, 'credit', credit) else redis.call('HDEL', state, 'credit') end
  local cost = tonumber(redis.call('HGET', costs, job.id)) or 1
  redis.call('HSET', state, job.lane, math.max(virtualTime(job.lane), job.tag))
  redis.call('EXPIRE', state, STATE_TTL)
  redis.call('ZADD', waiting(job.lane), job.tag + cost / weightOf(job.owner), job.owner)
  leave(job.lane, job.id)
  redis.call('HSET', base .. job.id, 'charged', cost)
end`;

/** A script as text, and the digest by which Redis knows it. */
export const orderScript = (main: string) => {
  const text = `${SHARED}\n${main}`;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
};

/** The Lua scripts of `RedisOrder`, by name. */
export const ORDER_SCRIPTS = {
  /** ARGV[3] and ARGV[4]: a tenant and its weight, or nothing. */
  sort: orderScript(`
if ARGV[4] == '1' then redis.call('HDEL', weights, ARGV[3])
elseif ARGV[4] then
  redis.call('HSET', weights, ARGV[3], ARGV[4])
  redis.call('EXPIRE', weights, WEIGHTS_TTL)
end
sort()`),

  /**
   * ARGV[3] `queue.aging_ms`, ARGV[4] `queue.aging_share`. Moves the job that has the turn
   * to the front and charges its tenant. A job that was released 5 s ago and not taken is
   * released again: who asked for it has died.
   */
  release: orderScript(`
local agingMs, share = tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local seconds = time[1] + time[2] / 1000000
local agedBefore = math.floor(seconds * 1000) - agingMs

local front = redis.call('ZRANGE', prioritized, 0, 0, 'WITHSCORES')
if front[1] and tonumber(front[2]) < math.min(C, seconds - 5) then
  redis.call('ZADD', prioritized, seconds, front[1])
  return front[1]
end
sort()

local job, credit = chosen(share, agedBefore)
if not job then return false end
charged(job, credit)
redis.call('HSET', base .. job.id, 'priority', isAged(job, agedBefore) and 1 or job.lane, 'released', math.floor(seconds * 1000))
redis.call('ZADD', prioritized, seconds, job.id)
return job.id`),

  /** ARGV[3]: a tenant. Returns how many jobs it has waiting, and how many tenants wait. */
  load: orderScript(`
sort()
local jobs, tenants = 0, 0
for lane = REALTIME, BATCH do
  jobs = jobs + redis.call('ZCARD', line(lane, ARGV[3]))
  tenants = math.max(tenants, redis.call('ZCARD', waiting(lane)))
end
return { jobs, tenants }`),

  /** ARGV[3]: a job that was removed while it waited. */
  leave: orderScript(`
if redis.call('ZSCORE', prioritized, ARGV[3]) then return end
leave(REALTIME, ARGV[3])
leave(BATCH, ARGV[3])`),

  /**
   * ARGV[3]: a job that a worker has, ARGV[4]: device milliseconds it took. The same
   * again changes nothing.
   */
  settle: orderScript(`
local job, ms = base .. ARGV[3], tonumber(ARGV[4])
local known = redis.call('HMGET', job, 'charged', 'lane')
if redis.call('EXISTS', job) == 0 then return end
correct(tonumber(known[2]) or BATCH, ownerOf(ARGV[3]), ms - (tonumber(known[1]) or 0))
redis.call('HSET', job, 'charged', ms)`),

  /** ARGV[3]: device milliseconds of a load, which those pay whose jobs wait or run. */
  charge: orderScript(`
sort()
local jobs, all = { [REALTIME] = {}, [BATCH] = {} }, 0
local function count(lane, owner, n) jobs[lane][owner], all = (jobs[lane][owner] or 0) + n, all + n end
for lane = REALTIME, BATCH do
  for _, owner in ipairs(redis.call('ZRANGE', waiting(lane), 0, -1)) do
    count(lane, owner, redis.call('ZCARD', line(lane, owner)))
  end
end
for _, id in ipairs(redis.call('LRANGE', base .. 'active', 0, -1)) do
  count(tonumber(redis.call('HGET', base .. id, 'lane')) or BATCH, ownerOf(id), 1)
end
for lane, owners in pairs(jobs) do
  for owner, n in pairs(owners) do correct(lane, owner, ARGV[3] * n / all) end
end`),

  /**
   * Writes nothing. Returns the credit of the aged turns; the jobs that have no place yet,
   * those that go next first; places whose gateway reaches no worker; the costs of jobs; and a row for each waiting tenant: lane,
   * name, start tag, weight, 1 for a suspect, then id and time of each job.
   */
  read: orderScript(`
local others = redis.call('ZRANGEBYSCORE', prioritized, '-inf', '(' .. C)
for _, range in ipairs(ARRIVALS) do
  local found = arrivals(range, MOST_LISTED)
  for at = 1, #found, 2 do others[#others + 1] = found[at] end
end
local parked = {}
for _, gateway in ipairs(redis.call('ZRANGE', shares .. 'slots:gateways', 0, -1)) do
  for _, id in ipairs(redis.call('HKEYS', shares .. 'slots:parked:' .. gateway)) do parked[#parked + 1] = id end
end
local rows = { { redis.call('HGET', state, 'credit') or '0' }, others, parked, redis.call('HGETALL', costs) }
for lane = REALTIME, BATCH do
  local tenants = redis.call('ZRANGE', waiting(lane), 0, -1, 'WITHSCORES')
  for at = 1, #tenants, 2 do
    local owner = tenants[at]
    local row = { tostring(lane), owner, tenants[at + 1], redis.call('HGET', weights, owner) or '1' }
    row[5] = tostring(redis.call('EXISTS', shares .. 'suspect:' .. owner))
    local jobs = redis.call('ZRANGE', line(lane, owner), 0, -1, 'WITHSCORES')
    for n = 1, #jobs, 2 do
      -- Not one that a worker took without a release: its name is dropped by the next one.
      if waits(lane, jobs[n]) then row[#row + 1], row[#row + 2] = jobs[n], jobs[n + 1] end
    end
    rows[#rows + 1] = row
  end
end
return rows`),
};
