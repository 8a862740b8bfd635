import type { Line } from '../../../fixtures/scenarios/scenario.ts'
import { complaint } from '../../../fixtures/scenarios/steps-jobs.ts'

const thread = { id: '$thread' }
const nowhere = { id: 'thr_0123456789abcdef' }
const file = { name: 'words.txt', text: 'one two three' }

/** Section Threads of the specification: the files of a conversation. */
export const threadFileScenarios: readonly Line[] = [
  {
    row: 'uploadThreadFile',
    kind: 'success',
    that: 'a party puts a file into the conversation',
    given: ['a job'],
    request: { as: 'provider', params: thread, form: { message: 'As agreed.', file } },
    expect: { status: 200, body: { thread_id: '$thread', author_role: 'provider', name: 'words.txt', size_bytes: 13 } },
    afterwards: [
      {
        row: 'getThread',
        request: { as: 'buyer', params: thread },
        expect: { status: 200, body: { messages: [{ type: 'file', body: 'As agreed.' }] } },
      },
    ],
  },
  {
    row: 'uploadThreadFile',
    kind: 'success',
    that: 'who bought without an account attaches evidence with the token of the job, and disputes with it',
    given: ['a guest job', 'it is delivered', 'a file of a guest'],
    request: { as: 'bearer', params: thread, form: { message: 'Two words are missing.', file } },
    expect: { status: 200, body: { thread_id: '$thread', author_role: 'buyer', name: 'words.txt' } },
    afterwards: [
      {
        row: 'disputeThread',
        request: { as: 'bearer', params: thread, body: { ...complaint, evidence: ['$file'] } },
        expect: { status: 200, body: { job: { dispute: { status: 'open', evidence: ['$file'] } } } },
      },
      {
        row: 'downloadThreadFile',
        request: { as: 'provider', params: { ...thread, fileId: '$file' } },
        expect: { status: 200 },
      },
    ],
  },
  {
    row: 'uploadThreadFile',
    kind: 'wrong_role',
    that: 'the token of another job attaches nothing',
    given: ['a guest job', 'another guest job'],
    request: { as: 'bearer', params: thread, form: { file } },
    expect: { status: 401, code: 'unauthorized' },
  },
  {
    row: 'uploadThreadFile',
    kind: 'wrong_role',
    that: 'the operator says nothing in it',
    given: ['a job'],
    request: { as: 'admin', params: thread, form: { file } },
    expect: { status: 401, code: 'unauthorized' },
  },
  {
    row: 'uploadThreadFile',
    kind: 'wrong_role',
    that: 'a participant who is no party puts nothing in',
    given: ['a job'],
    request: { as: 'other', params: thread, form: { file } },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    row: 'uploadThreadFile',
    kind: 'wrong_state',
    that: 'a conversation that was cancelled takes no file',
    given: ['a job', 'it is declined'],
    request: { as: 'buyer', params: thread, form: { file } },
    expect: { status: 409, code: 'conflict' },
  },
  {
    row: 'uploadThreadFile',
    kind: 'bad_input',
    that: 'a form without a file names it',
    given: ['a job'],
    request: { as: 'buyer', params: thread, form: { message: 'See the file.' } },
    expect: { status: 400, code: 'invalid_request', field: 'file' },
  },
  {
    row: 'uploadThreadFile',
    kind: 'bad_input',
    that: 'JSON is no file',
    given: ['a job'],
    request: { as: 'buyer', params: thread, body: { file: 'x' } },
    expect: { status: 415, code: 'unsupported_media_type' },
  },
  {
    row: 'uploadThreadFile',
    kind: 'bad_input',
    that: 'an unknown conversation is not found',
    request: { as: 'buyer', params: nowhere, form: { file } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'downloadThreadFile',
    kind: 'success',
    that: 'the other side reads it',
    given: ['a job', 'a file'],
    request: { as: 'provider', params: { ...thread, fileId: '$file' } },
    expect: { status: 200 },
  },
  {
    row: 'downloadThreadFile',
    kind: 'success',
    that: 'who bought without an account reads the conversation of the job',
    given: ['a file of a guest'],
    request: { as: 'bearer', params: { ...thread, fileId: '$file' } },
    expect: { status: 200 },
  },
  {
    row: 'downloadThreadFile',
    kind: 'success',
    that: 'the operator reads what a ruling rests on, and that is written down',
    given: ['a job', 'it is delivered', 'a file', 'it is disputed'],
    request: { as: 'admin', params: { ...thread, fileId: '$file' } },
    expect: { status: 200 },
    afterwards: [
      {
        row: 'getAdminLog',
        request: { as: 'admin', query: { limit: '1' } },
        expect: {
          status: 200,
          body: {
            acts: [
              {
                act: 'file.read',
                subject: { kind: 'file', id: '$file' },
                changed: false,
                detail: { thread_id: '$thread', job_id: '$job' },
              },
            ],
          },
        },
      },
    ],
  },
  {
    row: 'downloadThreadFile',
    kind: 'wrong_role',
    that: 'the token of another job reads nothing',
    given: ['a file of a guest', 'another guest job'],
    request: { as: 'bearer', params: { ...thread, fileId: '$file' } },
    expect: { status: 401, code: 'unauthorized' },
  },
  {
    row: 'downloadThreadFile',
    kind: 'wrong_role',
    that: 'a participant who is no party reads nothing',
    given: ['a job', 'a file'],
    request: { as: 'rival', params: { ...thread, fileId: '$file' } },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    row: 'downloadThreadFile',
    kind: 'wrong_state',
    exempt: 'a file can be read in every state of its conversation',
  },
  {
    row: 'downloadThreadFile',
    kind: 'bad_input',
    that: 'an unknown file is not found',
    given: ['a job'],
    request: { as: 'buyer', params: { ...thread, fileId: 'file_0123456789abcdef' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'downloadThreadFile',
    kind: 'bad_input',
    that: 'a file of another conversation is not found for the operator either, and nothing is written down',
    given: ['a job', 'a file', 'a guest job'],
    request: { as: 'admin', params: { ...thread, fileId: '$file' } },
    expect: { status: 404, code: 'not_found' },
  },
]
