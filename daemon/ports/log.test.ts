import { expect, test } from 'vitest'
import { openLog } from './log.ts'

test('secrets of a record and of its objects are not logged', () => {
  const log = openLog({ level: 'info' })
  const secrets = { signature: 's3cret', api_key: 's3cret', authorization: 's3cret', access_token: 's3cret' }
  log.info(
    { source: 'test', ...secrets, webhook_secret: 's3cret', request: { ...secrets, webhook_secret: 's3cret' } },
    'x',
  )
  const [record] = log.recent().records
  expect(JSON.stringify(record)).not.toContain('s3cret')
  expect(record).toMatchObject({ signature: '[redacted]', request: { webhook_secret: '[redacted]' } })
})
