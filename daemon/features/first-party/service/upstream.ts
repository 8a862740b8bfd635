import { AppError } from '../../../../src/core/error.ts'
import { UpstreamError } from '../../../ports/upstream/upstream.ts'
import { wrongField } from './service.ts'

/**
 * What a buyer is told of an upstream that gave nothing; other errors pass.
 * @param field of the input that is at fault when the upstream refuses what was asked.
 */
export async function fromUpstream<T>(asked: Promise<T>, field?: string): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    if (error.failure === 'asker' && field !== undefined) throw wrongField(field, error.message, error)
    throw new AppError('provider_failed', error.message, { cause: error })
  }
}
