/** Reason codes of payment refusals (402): one of the published v1 list, and one of the `exact` scheme of v2. */
const codes = {
  missing: ['X-PAYMENT header is required', 'Payment required'],
  malformed: ['invalid_payload', 'invalid_payload'],
  version_unsupported: ['invalid_x402_version', 'invalid_x402_version'],
  scheme_unsupported: ['unsupported_scheme', 'invalid_exact_evm_scheme'],
  network_mismatch: ['invalid_network', 'invalid_exact_evm_network_mismatch'],
  requirement_mismatch: ['invalid_payment_requirements', 'invalid_payment_requirements'],
  asset_mismatch: ['invalid_payment_requirements', 'invalid_payment_requirements'],
  domain_missing: ['invalid_exact_evm_payload_signature', 'invalid_exact_evm_missing_eip712_domain'],
  domain_name_mismatch: ['invalid_exact_evm_payload_signature', 'invalid_exact_evm_token_name_mismatch'],
  domain_version_mismatch: ['invalid_exact_evm_payload_signature', 'invalid_exact_evm_token_version_mismatch'],
  recipient_mismatch: ['invalid_exact_evm_payload_recipient_mismatch', 'invalid_exact_evm_recipient_mismatch'],
  amount_mismatch: [
    'invalid_exact_evm_payload_authorization_value',
    'invalid_exact_evm_payload_authorization_value_mismatch',
  ],
  not_yet_valid: [
    'invalid_exact_evm_payload_authorization_valid_after',
    'invalid_exact_evm_payload_authorization_valid_after',
  ],
  expired: [
    'invalid_exact_evm_payload_authorization_valid_before',
    'invalid_exact_evm_payload_authorization_valid_before',
  ],
  signature_invalid: ['invalid_exact_evm_payload_signature', 'invalid_exact_evm_signature'],
  signature_length: ['invalid_exact_evm_payload_signature', 'invalid_exact_evm_signature'],
  signature_high_s: ['invalid_exact_evm_payload_signature', 'invalid_exact_evm_signature'],
  smart_wallet_unsupported: ['invalid_exact_evm_payload_undeployed_smart_wallet', 'eip6492_factory_not_allowed'],
  insufficient_funds: ['insufficient_funds', 'invalid_exact_evm_insufficient_balance'],
  nonce_used: ['invalid_transaction_state', 'invalid_exact_evm_nonce_already_used'],
  payer_blocked: ['invalid_transaction_state', 'invalid_exact_evm_transaction_failed'],
  settlement_failed: ['invalid_transaction_state', 'invalid_exact_evm_transaction_failed'],
  settlement_pending: ['unexpected_settle_error', 'settlement_pending'],
  duplicate_settlement: ['duplicate_settlement', 'duplicate_settlement'],
  payee_not_served: ['invalid_payment_requirements', 'invalid_payment_requirements'],
  self_payment: ['invalid_payment_requirements', 'invalid_payment_requirements'],
  value_too_small: ['invalid_payment_requirements', 'invalid_payment_requirements'],
  wallet_blocked: ['invalid_payment', 'invalid_payment'],
  chain_unavailable: ['unexpected_verify_error', 'unexpected_verify_error'],
} as const satisfies Record<string, readonly [v1: string, v2: string]>

export type PaymentFault = keyof typeof codes

export const faultSentences: Readonly<Record<PaymentFault, string>> = {
  missing: 'This request needs a payment.',
  malformed: 'The payment header is not the base64 of a well-formed x402 payment.',
  version_unsupported: 'X-PAYMENT carries x402Version 1 and PAYMENT-SIGNATURE carries x402Version 2.',
  scheme_unsupported: 'Only the scheme "exact" is accepted.',
  network_mismatch: 'The payment is for another network.',
  requirement_mismatch: 'The accepted entry differs from the offer of this request.',
  asset_mismatch: 'The payment is for another token.',
  domain_missing: 'The accepted entry has no extra.name or extra.version of the token.',
  domain_name_mismatch: 'The token name in the accepted entry differs from the offer.',
  domain_version_mismatch: 'The token version in the accepted entry differs from the offer.',
  recipient_mismatch: 'The authorization pays the wrong wallet.',
  amount_mismatch: 'The authorised value must equal the price.',
  not_yet_valid: 'The authorization is not valid yet: validAfter is in the future.',
  expired: 'The authorization has expired, or leaves too little time to settle: sign a new one.',
  signature_invalid: 'The signature does not match the paying wallet and this authorization.',
  signature_length: 'The signature must be 65 bytes: r, s and v.',
  signature_high_s: 'The s value of the signature is in the upper half of the curve order, which the token rejects.',
  smart_wallet_unsupported: 'Signatures of wallets that are not deployed yet (ERC-6492) are not accepted.',
  insufficient_funds: 'The wallet cannot cover the price and its open payments.',
  nonce_used: 'This authorization was already used or cancelled: sign a new one.',
  payer_blocked: 'The issuer of the token has blocked the paying wallet: pay from another one.',
  settlement_failed: 'The chain rejected the transfer; nothing was delivered.',
  settlement_pending: 'The transfer is not confirmed yet: send the same payment again to get the response.',
  duplicate_settlement: 'The result of this authorization was already returned: sign a new one.',
  payee_not_served: 'This facilitator does not settle payments to this payTo.',
  self_payment: 'The paying wallet is also the payee; such payments are not settled.',
  value_too_small: 'The value is below the minimum of this facilitator.',
  wallet_blocked: 'The payer or the payee is on a sanctions list; nothing was paid.',
  chain_unavailable: 'The chain did not answer: send the same payment again shortly.',
}

/** Reason code in the payer's x402 version. */
export function faultReason(fault: PaymentFault, version: 1 | 2): string {
  const [v1, v2] = codes[fault]
  return version === 1 ? v1 : v2
}
