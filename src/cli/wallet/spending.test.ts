import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { payeeOf } from './spending.ts'

/* Who a payment goes to is read from its path as the daemon reads it. */

const seller = 'p_0123456789abcdef'
const session = { call: async () => ({ provider_id: seller }) } as unknown as Parameters<typeof payeeOf>[0] // nothing else of it is used
const payee = (path: string, method: 'GET' | 'POST' = 'POST') => payeeOf(session, { method, path, body: undefined })
const nobody = { seller: null, subject: null }

const sales: [string, string][] = [
  ['/v1/services/ID/purchase', 'svc_0123456789abcdef'],
  ['/v1/products/ID/purchase', 'prod_0123456789abcdef'],
  ['/v1/plans/ID/subscribe', 'plan_0123456789abcdef'],
  ['/v1/threads/ID/accept', 'thr_0123456789abcdef'],
]

test('a sale has the same payee in every spelling of its path', async () => {
  const spelled = (text: string, marks: readonly boolean[]) =>
    [...text].map((one, at) => (marks[at] ? `%${one.charCodeAt(0).toString(16)}` : one)).join('')
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...sales),
      fc.array(fc.boolean(), { maxLength: 22 }),
      fc.constantFrom('', '/', '?', '?a=1', '/?a=/v1/register'),
      async ([path, id], marks, end) => {
        expect(await payee(path.replace('ID', spelled(id, marks)) + end)).toEqual({ seller, subject: id })
      },
    ),
  )
})

describe('what is no sale', () => {
  test.each(['/v1/register', '/v1/balance/deposit?amount=1.00', '/v1/services/svc_0123456789abcdef/inquire/'])(
    '%s is a fee of the marketplace',
    async (path) => expect(await payee(path)).toEqual({ seller: 'market', subject: null }),
  )

  test.each([
    '/v1/services/svc_0123456789abcdef/purchase/more',
    '/v2/services/svc_0123456789abcdef/purchase',
    '/v1/services/SVC_0123456789ABCDEF/purchase',
    '/v1/services/site-audit',
    '/v1/services/%E0%A4%A/purchase',
    '/anything',
  ])('%s pays nobody who is known', async (path) => expect(await payee(path)).toEqual(nobody))
})
