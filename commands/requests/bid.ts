import { defineCall } from '../../src/cli/command.ts'
import { showBid } from '../../src/cli/nouns/requests.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCall({
  name: 'requests bid',
  summary: 'bid on a request',
  aliases: ['postings bid'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  options: z.object({
    service: z.string().meta({ description: 'your listing for the work', value: 'id' }),
    price: z.string().meta({ description: 'your price', value: 'usd' }),
    eta: z.number().meta({ description: 'delivery time', value: 'hours' }),
    pitch: z.string().default('').meta({ description: 'message to the requester', value: 'text' }),
  }),
  examples: [
    'souk requests bid post_0123456789abcdef --service svc_0123456789abcdef --price 8 --eta 24',
    'souk requests bid post_0123456789abcdef --service svc_0123456789abcdef --price 7.50 --eta 2 --pitch "Done often" --json',
  ],
  asks: 'createBid',
  asked(context) {
    const { service, price, eta, pitch } = context.options
    return {
      params: { id: context.args.request },
      body: { service_id: service, price_usd: price, eta_hours: eta, pitch },
    }
  },
  view: showBid,
})
