// The thread of `backend.ts`: one table, asked by messages, answering in their order.
import { parentPort, workerData } from 'node:worker_threads'
import { AppError } from '../../../../src/core/error.ts'
import { perform, type SearchCall, type SearchReply } from './backend.ts'
import { reopenFile } from './file.ts'
import { openIndex } from './index.ts'

// A file made anew here would answer that there is nothing.
const index = openIndex(String(workerData), reopenFile)

function answerTo({ id, op, args }: SearchCall): SearchReply {
  try {
    return { id, value: perform(index, op, args) }
  } catch (error) {
    return {
      id,
      failure: error instanceof Error ? error.message : String(error),
      unavailable: error instanceof AppError && error.code === 'unavailable',
    }
  }
}

parentPort?.on('message', (ask: SearchCall) => {
  parentPort?.postMessage(answerTo(ask))
  // Without its port nothing keeps the thread, and it ends by itself.
  if (ask.op === 'close') parentPort?.close()
})
