/** How wrk changes records: another value each time, and if need be with the entity tag of the last answer. */

const numbers = `
local turn = 0
-- Another run of wrk begins with other values: one that a record has already would change nothing.
local number = os.time() * 7919 % 8999999
local nextMessage = function()
  turn = turn % #messages + 1
  -- As many digits each time: the length of the body stays.
  number = (number + 1) % 8999999
  return (string.gsub(messages[turn], '1000000}$', tostring(1000001 + number) .. '}'))
end
`

/** Lua that follows the messages: each change has another value. */
export const renumbering = `${numbers}
request = nextMessage
`

/** The same, where a record is changed whatever its tag the first time, and afterwards by the tag that it got. */
export const patching = `${numbers}
local tags = {}
request = function()
  local message = nextMessage()
  local tag = tags[string.match(message, '/cities/([%w-]+)')]
  if tag ~= nil then message = string.gsub(message, 'If%-Match: %*', 'If-Match: ' .. tag) end
  return message
end
response = function(status, headers, body)
  local id = string.match(body, '"id":"([%w-]+)"')
  -- A refusal has no id; the round ends with an error that names its status.
  if id ~= nil then tags[id] = headers['ETag'] or headers['etag'] end
end
`
