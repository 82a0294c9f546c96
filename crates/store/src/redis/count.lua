-- Counts a call if its window has room, by the server's clock. The rules are those of runtime/src/limits.rs.
-- KEYS[1]: the window. ARGV: its length and that of its pieces in milliseconds, and the most calls in it.
-- Answers {1}, or {0, wait} if there is no room before so many milliseconds.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local length, piece, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local lasts, counts, sum = {}, {}, 0
for last, n in string.gmatch(redis.call('GET', KEYS[1]) or '', '(%d+):(%d+)') do
  -- A clock that went back makes nobody wait for it: what is ahead by more than a window no longer counts.
  local ahead = tonumber(last) > now + length
  last, n = math.min(tonumber(last), now), tonumber(n)
  if last > now - length and not ahead then
    table.insert(lasts, last)
    table.insert(counts, n)
    sum = sum + n
  end
end
if sum >= most then
  local wait, later = length, 0
  for i = #lasts, 1, -1 do
    if later >= most then break end
    wait, later = lasts[i] + length - now, later + counts[i]
  end
  return {0, wait}
end
if #lasts > 0 and math.floor(lasts[#lasts] / piece) == math.floor(now / piece) then
  lasts[#lasts], counts[#lasts] = now, counts[#lasts] + 1
else
  table.insert(lasts, now)
  table.insert(counts, 1)
end
local kept = {}
for i = 1, #lasts do
  kept[i] = string.format('%d:%d', lasts[i], counts[i])
end
redis.call('SET', KEYS[1], table.concat(kept, ' '), 'PX', length)
return {1}
