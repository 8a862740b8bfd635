import { defineCommand } from '../../../src/cli/command.ts'
import { usage } from '../../../src/cli/exit.ts'
import { noPolicy, payeeNamed } from '../../../src/cli/nouns/policy.ts'
import { chosenWallet } from '../../../src/cli/nouns/wallets.ts'
import * as z from '../../../src/cli/params.ts'
import { spentBefore } from '../../../src/client/spending/ledger.ts'
import { brokenRule, nameOf, needsAsking, policyOf } from '../../../src/client/spending/policy.ts'
import { isAddress } from '../../../src/core/hex.ts'
import { formatAmount, parseAmount, ZERO } from '../../../src/core/money.ts'
import { cyan, green, red } from '../../../src/text/text.ts'

export const command = defineCommand({
  name: 'wallet policy test',
  summary: 'say whether a payment would be let through, and which rule stops it',
  description: 'Sends and signs nothing. Exits with code 5 if a limit stops the payment.',
  args: z.object({ amount: z.string().meta({ description: 'amount in USDC, such as 0.50' }) }),
  options: z.object({
    seller: z.string().optional().meta({ description: 'seller, listing or instance', value: 'name' }),
    to: z.string().optional().meta({ description: 'payee address', value: 'address' }),
  }),
  examples: ['souk wallet policy test 0.50', 'souk wallet policy test 0.50 --seller p_0123456789abcdef --json'],
  async run(context) {
    const { args, options, globals, places, system, exit } = context
    const price = parseAmount(args.amount)
    if (price === undefined) throw usage(`The amount must be like 0.50; you gave "${args.amount}".`)
    if (options.to !== undefined && !isAddress(options.to))
      throw usage(`--to must be an address; you gave "${options.to}".`)
    const { name, address } = chosenWallet(places, globals.as)
    const policy = policyOf(places, address) ?? noPolicy
    const payee = payeeNamed(context, options)
    const before = spentBefore(places, { wallet: address.toLowerCase(), now: system.now() }, payee)
    const broken = brokenRule(policy, { price, payee }, { ...before, command: ZERO })
    if (broken !== undefined) exit('payment')
    return {
      wallet: name,
      amount: formatAmount(price),
      payee: nameOf(payee),
      allowed: broken === undefined,
      asks: broken === undefined && needsAsking(policy, price),
      rule: broken?.rule ?? null,
      reason: broken?.message ?? null,
      change: broken === undefined ? null : ['souk wallet policy set', name, ...broken.change].join(' '),
      day: formatAmount(before.day),
    }
  },
  view({ amount, payee, allowed, asks, rule, reason, change }, io) {
    if (!allowed) {
      io.line(`${red('✗')} $${amount} to ${payee} would be refused by ${rule}: ${reason}`)
      if (change !== null) io.note(`  → ${cyan(io.hint(change))}`)
    } else io.line(`${green('✓')} $${amount} to ${payee} would be let through${asks ? ', once a person agrees' : ''}`)
  },
})
