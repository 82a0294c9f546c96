-- Counts a call if its window has room, by the server's clock. The rules are those of runtime/src/limits.rs.
-- KEYS[1]: the window. ARGV: its length in milliseconds, and the most calls in it.
-- Answers {1}, or {0, start, now, before, time} if there is no room.
local time = redis.call('TIME')
local at = time[1] * 1000 + math.floor(time[2] / 1000)
local length, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local kept = redis.call('HMGET', KEYS[1], 'start', 'length', 'now', 'before')
local start, now, before = tonumber(kept[1]), tonumber(kept[3]), tonumber(kept[4])
local passed = 2
if start and tonumber(kept[2]) == length then
  passed = math.floor((at - start) / length)
end
if passed >= 2 then
  start, now, before = at, 0, 0
elseif passed == 1 then
  start, now, before = start + length, 0, now
end
-- A clock that went back does not reopen the window.
start = math.min(start, at)
if before * (1 - (at - start) / length) + now >= most - 1e-9 then
  return {0, start, now, before, at}
end
redis.call('HSET', KEYS[1], 'start', start, 'length', length, 'now', now + 1, 'before', before)
redis.call('PEXPIRE', KEYS[1], 2 * length)
return {1}
