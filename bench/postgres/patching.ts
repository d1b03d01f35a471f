/** How wrk changes records that it has seen: with the entity tag of the last answer, and another value each time. */

/**
 * Lua that follows the messages: the first time a record is changed whatever its tag, afterwards by the tag that it
 * got.
 */
export const patching = `
local turn, number = 0, 0
local tags = {}
request = function()
  turn = turn % #messages + 1
  -- As many digits each time: the length of the body stays.
  number = (number + 1) % 8999999
  local message = messages[turn]
  local tag = tags[string.match(message, '/cities/([%w-]+)')]
  if tag ~= nil then message = string.gsub(message, 'If%-Match: %*', 'If-Match: ' .. tag) end
  return (string.gsub(message, '1000000}$', tostring(1000001 + number) .. '}'))
end
response = function(status, headers, body)
  tags[string.match(body, '"id":"([%w-]+)"')] = headers['ETag']
end
`
