import { bidScenarios } from '../../fixtures/scenarios/bids.ts'
import { requestScenarios } from '../../fixtures/scenarios/requests.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'

describeScenarios('Requests', [...requestScenarios, ...bidScenarios])
