// Written by `npm run commands` from the contract; a test fails when it is stale.

/** Shapes that several answers share, by their name in the description. */
export const shared: Readonly<Record<string, string>> = {
  AcceptedThread:
    '{"id":"#thr_","thread_id":"#thr_","service_id":"#svc_","agent_id":["|","#p_","0"],"provider_id":"#p_","status":["w"],"proposal":["|",{"price":"@Amount","agent_price":"@Amount","provider_net_price":"@Amount","message":"s","estimated_delivery?":"s","status":["w"],"proposed_at":"@Time","expires_at":"@Time"},"0"],"job_id":["|","#job_","0"],"message_count":"i","messages?":["[","@Message"],"created_at":"@Time","updated_at":"@Time","job?":"@Job","status_url":"s","amount":"@Amount","receipt_id":"#rcp_"}',
  Address: '["/","^0x[0-9a-fA-F]{40}$"]',
  AdminAct:
    '{"seq":"i","at":"@Time","wall_at":"@Time","actor":"s","request_id":"s","act":"s","subject":{"kind":"s","id":"s"},"reason":["|","s","0"],"changed":"b","detail":["{","*"]}',
  AdminListing:
    '{"id":"#svc_","service_id":"#svc_","provider_id":"#p_","provider_name":"s","provider_type":["=","provider","both"],"provider_verification_tier":["w"],"name":"s","description":"s","price":{"fixed":["|","@Price","0"]},"pricing_model":["=","fixed","quote_required"],"service_type":["=","data_api","automated_service","human_service"],"fulfillment_type":["=","instant","automated","human"],"estimated_delivery":"s","input_schema":["{","@JsonValue"],"deliverable_schema":["{","@JsonValue"],"category":"s","tags":["[","s"],"status":["w"],"listed_at":"@Time","updated_at":"@Time","endpoint":"s","platform_fee_pct":"n","agent_price":{"fixed":["|","@Price","0"]},"provider_net_price":{"fixed":["|","@Price","0"]},"provider_receives_pct?":"n","webhook_healthy":"b","webhook_status":["w"],"first_party?":"b","slug?":"s","provider_reputation":["|",["|","n","@Reputation"],"0"],"provider_confidence?":"n","provider_is_new?":"b","provider_dimensions?":["{","n"],"provider_completed_jobs?":"i","provider_completion_rate?":["|","n","0"],"provider_trust?":"@Trust","service_reputation?":"@Reputation","service_type_reputation?":"@Reputation","selling?":"@Selling"}',
  AdminParticipant:
    '{"id":"#p_","participant_id":"#p_","wallet":"@Address","name":"s","description":"s","type":["=","agent","provider","both"],"verification_tier":["w"],"capabilities":["[","s"],"links":["{","s"],"first_party":"b","created_at":"@Time","webhook_url":["|","s","0"],"listable":["|","b","0"],"in_directory":"b","terms_version":["|","s","0"],"updated_at":"@Time","suspended_at":["|","@Time","0"],"referred_by":["|","#p_","0"],"balance":{"available":"@Amount","held":"@Amount"}}',
  Amount: '["/","^-?\\\\d{1,12}(\\\\.\\\\d{1,6})?$"]',
  Attachment:
    '{"id":"#file_","file_id":"#file_","thread_id":"#thr_","message_id":"#msg_","author_role":["=","buyer","provider"],"name":"s","size_bytes":"i","content_type":"s","sha256":"s","download_url":"s","created_at":"@Time"}',
  AttentionItem:
    '{"id":"s","kind":["=","journal","disk","chain","reversed","payout","dispute","overdue","unserved_period","delivery","endpoint","cron","engine","sanctions_list","platform","escrow"],"grave":"b","subject":{"kind":"s","id":"s"},"who":["|","s","0"],"amount":["|","@Amount","0"],"since":["|","@Time","0"],"due":["|","@Time","0"],"sentence":"s","fix":"s"}',
  AuditReport:
    '{"ok":"b","as_of":{"seq":"i","at":"@Time"},"transactions":"i","accounts":"i","checks":["[",{"name":"s","ok":"b","detail":"s"}]}',
  Balance:
    '{"balance":"@Amount","available":"@Amount","held":"@Amount","currency":["=","USDC"],"participant_id":"#p_"}',
  BalanceEntry:
    '{"id":"#txn_","type":["=","deposit","withdrawal","purchase","escrow_hold","refund","release","referral","fee","adjustment"],"amount":"@Amount","balance_after":"@Amount","reference":{"kind":"s","id":"s"},"created_at":"@Time"}',
  BalanceWithdrawal:
    '{"payout_id":"#out_","withdrawn":"@Amount","balance":"@Amount","available":"@Amount","wallet":"@Address","status":["w"],"transaction_id":"#txn_","currency":["=","USDC"]}',
  Bid: '{"id":"#bid_","bid_id":"#bid_","posting_id":"#post_","provider_id":"#p_","service_id":"#svc_","price_usd":"@UsdNumber","agent_price_usd":"@UsdNumber","eta_hours":"n","pitch":"s","status":["w"],"created_at":"@Time","updated_at":"@Time"}',
  Bytes32: '["/","^0x[0-9a-fA-F]{64}$"]',
  ChainTransaction:
    '{"id":"s","nonce":"i","what":["=","payments","call"],"call":["|","s","0"],"to":"@Address","state":["w"],"transfers":"i","amount":"@Amount","hashes":["[","s"],"max_fee":"s","sent_at":"@Time","block":["|","i","0"],"mined":["|","s","0"],"ok":["|","b","0"],"included_at":["|","@Time","0"],"items?":["[",{"from":"@Address","to":"@Address","amount":"@Amount","nonce":"s","state":["w"]}]}',
  Clock:
    '{"now":"@Time","wall":"@Time","offset_ms":"i","state":["w"],"movable":"b","next_cron":["|",{"name":"s","at":"@Time"},"0"]}',
  ClockChange:
    '{"now":"@Time","wall":"@Time","offset_ms":"i","state":["w"],"movable":"b","next_cron":["|",{"name":"s","at":"@Time"},"0"],"changed":"b","jumps":"i","runs_total":"i","runs":["[","@NamedCronRun"]}',
  Cron: '{"last_success":["|","@Time","0"],"last_skipped":["|","@Time","0"],"last_failure":["|","@Time","0"],"age_seconds":["|","i","0"],"stale":"b","skip_reason?":"s","name":"s","schedule":"s","interval_seconds":"i","paused":"b","paused_at":["|","@Time","0"],"running":"b","next_run":["|","@Time","0"],"runs":["[","@CronRun"]}',
  CronChange:
    '{"last_success":["|","@Time","0"],"last_skipped":["|","@Time","0"],"last_failure":["|","@Time","0"],"age_seconds":["|","i","0"],"stale":"b","skip_reason?":"s","name":"s","schedule":"s","interval_seconds":"i","paused":"b","paused_at":["|","@Time","0"],"running":"b","next_run":["|","@Time","0"],"runs":["[","@CronRun"],"changed":"b"}',
  CronRun:
    '{"at":"@Time","took_ms":"i","trigger":["=","schedule","catch_up","clock","admin"],"result":["=","success","skipped","failed"],"reason":["|","s","0"]}',
  Delivery:
    '{"id":"#whd_","delivery_id":"#whd_","event_id":"#evt_","type":"s","status":["w"],"reason":["|","s","0"],"participant_id":"#p_","service_id":["|","#svc_","0"],"job_id":["|","#job_","0"],"url":"s","created_at":"@Time","next_attempt_at":["|","@Time","0"],"ended_at":["|","@Time","0"],"attempts":["[",{"at":"@Time","status":["|","i","0"],"latency_ms":"i","error":["|","s","0"],"response_excerpt":"s"}]}',
  DiscoveredResource:
    '{"resource":"s","type":["=","http"],"x402Version":["=",2],"accepts":["[",{"scheme":"s","network":"s","amount":["/","^\\\\d{1,78}$"],"asset":"s","payTo":"s","maxTimeoutSeconds":["i",1],"extra?":["{","*"]},1],"lastUpdated":"@Time","description":"s","mimeType":"s","serviceName":"s","tags":["[","s"],"extensions":["{","*"]}',
  EndpointFigures:
    '{"endpoint":"s","method":"s","path":"s","calls":{"answered":"i","asked_to_pay":"i","refused":"i","switched_off":"i","broken":"i"},"total":"i","p50_ms":["|","n","0"],"p95_ms":["|","n","0"],"by_hour":["[","i"],"slowest":["|",{"at":"@Time","ms":"i","status":"i","request_id":"s"},"0"],"last_broken":["|",{"at":"@Time","ms":"i","status":"i","request_id":"s"},"0"],"sold?":{"times":"i","amount":"@Amount"}}',
  Engine:
    '{"name":"s","status":["w"],"detail":"s","fix":["|","s","0"],"functions":["[","s"],"looked_at":["|","@Time","0"],"reached":["|",{"ok":"b","detail":"s","at":"@Time"},"0"]}',
  EventAbout:
    '{"service":["|","s","0"],"buyer":["|","s","0"],"provider":["|","s","0"],"amount":["|","@Amount","0"],"method":["|","s","0"]}',
  FacilitatedResource:
    '{"resource":"s","type":["=","http","mcp"],"x402Version":"i","accepts":["[",["{","*"]],"lastUpdated":"@Time","description":"s","mimeType":"s","serviceName?":"s","tags":["[","s"],"extensions":["{","*"]}',
  FacilitatedSettlement:
    '{"id":"s","state":["w"],"seller":"s","x402_version":"i","payer":"@Address","pay_to":"@Address","amount":"@Amount","resource":["|","s","0"],"transaction":["|","s","0"],"valid_before":["|","@Time","0"],"created_at":"@Time","settled_at":["|","@Time","0"],"handed_at":["|","@Time","0"]}',
  FacilitatorSettlement:
    '{"success":"b","transaction":"s","network":"s","errorReason?":"s","errorMessage?":"s","amount?":"s","payer?":"@Address","code?":"s"}',
  FacilitatorVerdict: '{"isValid":"b","invalidReason?":"s","invalidMessage?":"s","payer?":"@Address","code?":"s"}',
  Features:
    '{"checkout_v2":"b","terms_required":"b","disputes_default":["|",{"outcome":["=","release","refund","split"],"days":["i",1,365]},"0"],"named_services":["{",["|","#svc_","#plan_"]],"features":["[",{"name":"s","enabled":"b","rows":["[","s"]}]}',
  FeaturesChange:
    '{"checkout_v2":"b","terms_required":"b","disputes_default":["|",{"outcome":["=","release","refund","split"],"days":["i",1,365]},"0"],"named_services":["{",["|","#svc_","#plan_"]],"features":["[",{"name":"s","enabled":"b","rows":["[","s"]}],"changed":"b"}',
  FeedbackSummary: '{"tag1":"s","tag2":"s","count":"i","value":"n","value_decimals":"i"}',
  FileFacts: '{"name":"s","size_bytes":"i","content_type":"s","sha256":"s"}',
  Health:
    '{"status":["w"],"checkout_v2":"b","paused":"b","paused_at":["|","@Time","0"],"service":"s","version":"s","instance_id":"s","network":"s","pay_to":"@Address","chain":{"mode":"s","asset":"@Address","name":"s","version":"s","health?":["=","ok","degraded","down"],"head?":["|",{"block":"i","age_seconds":"i"},"0"],"lag_blocks?":"i","nodes?":{"up":"i","down":"i"},"queue?":{"waiting":"i","in_flight":"i","oldest_seconds":["|","i","0"]},"gas_payments?":["|","i","0"]},"timestamp":"i","crons":["{",{"last_success":["|","@Time","0"],"last_skipped":["|","@Time","0"],"last_failure":["|","@Time","0"],"age_seconds":["|","i","0"],"stale":"b","skip_reason?":"s"}],"launch":{"days":["[","s"],"shelved_410_24h":["{",["{","i"]],"gate_refusals_24h":["{","i"]},"compliance":{"sdn":"@Sdn"},"engines":["{",["=","ok","missing","unconfigured","failing"]],"store":{"writes":["=","accepted","refused"],"journal_cut":["|",{"kind":["=","unfinished","damaged","missing"],"dropped_bytes":"i","missing_transactions":"i"},"0"],"note":["|","s","0"]},"platform":{"description":"s","status_note":"s","status_legend":["{","s"],"catalog":"s","register":"s","docs":"s"},"referral_program":{"enabled":"b","description":"s","how_to_refer":"s","endpoints":["[","s"]},"openapi_spec":"s","bazaar":"s","endpoints":["[",{"path":"s","method":"s","price":"s","description":"s","status":["w"],"replacement?":["|","s","0"]}]}',
  Hold: '{"account":"s","kind":["=","ext","bal","hold","esc","prov","fees","ops","refp","ref","rfd","out","blk","oper"],"amount":"@Amount","owner":["|",{"kind":"s","id":"s"},"0"],"reason":"s","next_event":["|","s","0"],"next_event_at":["|","@Time","0"],"job?":{"status":["w"],"late":"b","about":"@EventAbout"}}',
  Job: '{"id":"#job_","job_id":"#job_","service_id":"#svc_","service_name?":"s","buyer?":{"participant_id":["|","#p_","0"],"wallet":"@Address"},"provider_id?":"#p_","status":["w"],"input?":["{","@JsonValue"],"deliverables?":["[","@JsonValue"],"notes?":"s","amount?":"@Amount","fee?":"@Amount","provider_amount?":"@Amount","escrow?":{"status":["w"],"held_at":["|","@Time","0"],"next_event":["|",["w"],"0"],"next_event_at":["|","@Time","0"],"contract?":{"state":["w"],"waits":["|","s","0"],"transactions":["[",{"act":["=","deposit","drop","extend","markDelivered","markDisputed","release","refund","resolve","emergencyWithdraw"],"transaction":"s"}]}},"payment?":{"method":["=","x402","balance","subscription"],"transaction":["|","s","0"],"payer":"@Address"},"receipt_id?":"#rcp_","thread_id?":"#thr_","posting_id?":["|","#post_","0"],"subscription_id?":"#sub_","verification?":["|",{"by":["=","buyer","auto","ruling"],"rating":["|","i","0"],"comment":["|","s","0"],"at":"@Time"},"0"],"dispute?":["|",{"status":["w"],"reason":"s","category":["=","not_delivered","wrong_deliverable","quality","other"],"evidence":["[","#file_"],"opened_at":"@Time","resolution":["|",["=","release","refund","split"],"0"],"buyer_amount":["|","@Amount","0"],"resolved_by":["|",["=","admin","system"],"0"],"resolution_reason":["|","s","0"],"resolved_at":["|","@Time","0"],"decision":["|",{"by":["=","operator","default"],"outcome":["|",["=","release","refund","split"],"0"],"at":["|","@Time","0"]},"0"]},"0"],"timeline?":["[",{"at":"@Time","event":"s","detail":"s"}],"created_at":"@Time","dispatched_at?":["|","@Time","0"],"completed_at":["|","@Time","0"],"deadline_at?":["|","@Time","0"],"ended_at?":["|","@Time","0"]}',
  JobBundle:
    '{"generated_at":"@Time","job":"@Job","schema_report":{"input":["|",{"ok":"b","details":["[",{"path":"s","message":"s"}]},"0"],"deliverables":["|",{"ok":"b","details":["[",{"path":"s","message":"s"}]},"0"]},"deliverable_hashes":["[",{"index":"i","bytes":"i","sha256":"s"}],"thread":"@Thread","files":["[","@Attachment"],"payment":["|",{"receipt_id":"#rcp_","endpoint":"s","method":["=","x402","balance","subscription"],"state":["w"],"amount":"@Amount","payer":"@Address","transaction":["|","s","0"],"created_at":"@Time"},"0"],"postings":["[",{"transaction_id":"#txn_","kind":"s","at":"@Time","lines":["[",{"account":"s","amount":"@Amount"}]}]}',
  JsonValue: '"*"',
  LinkedIdentity: '{"agent_registry":"s","agent_id":"s","linked_at":"@Time"}',
  ListedVerificationAttempt:
    '{"id":"#vat_","attempt_id":"#vat_","participant_id":"#p_","status":["w"],"operator_name":["|","s","0"],"consented_at":["|","@Time","0"],"vendor_url":["|","s","0"],"reason":["|","s","0"],"created_at":"@Time","expires_at":"@Time","ended_at":["|","@Time","0"],"name?":"s","verification_tier?":["w"]}',
  Listing:
    '{"id":"#svc_","service_id":"#svc_","provider_id":"#p_","provider_name":"s","provider_type":["=","provider","both"],"provider_verification_tier":["w"],"name":"s","description":"s","price":{"fixed":["|","@Price","0"]},"pricing_model":["=","fixed","quote_required"],"service_type":["=","data_api","automated_service","human_service"],"fulfillment_type":["=","instant","automated","human"],"estimated_delivery":"s","input_schema":["{","@JsonValue"],"deliverable_schema":["{","@JsonValue"],"category":"s","tags":["[","s"],"status":["w"],"listed_at":"@Time","updated_at":"@Time","endpoint":"s","platform_fee_pct":"n","agent_price":{"fixed":["|","@Price","0"]},"provider_net_price":{"fixed":["|","@Price","0"]},"provider_receives_pct?":"n","webhook_healthy":"b","webhook_status":["w"],"first_party?":"b","slug?":"s","provider_reputation":["|",["|","n","@Reputation"],"0"],"provider_confidence?":"n","provider_is_new?":"b","provider_dimensions?":["{","n"],"provider_completed_jobs?":"i","provider_completion_rate?":["|","n","0"],"provider_trust?":"@Trust","service_reputation?":"@Reputation","service_type_reputation?":"@Reputation"}',
  MarketEvent:
    '{"id":"#evt_","event_id":"#evt_","cursor":"i","at":"@Time","type":"s","participant_id":["|","#p_","0"],"subject":{"kind":"s","id":"s"},"data":["{","*"],"tx?":"i","about?":"@EventAbout"}',
  MarketJob:
    '{"id":"#job_","job_id":"#job_","service_id":"#svc_","service_name?":"s","buyer?":{"participant_id":["|","#p_","0"],"wallet":"@Address"},"provider_id?":"#p_","status":["w"],"input?":["{","@JsonValue"],"deliverables?":["[","@JsonValue"],"notes?":"s","amount?":"@Amount","fee?":"@Amount","provider_amount?":"@Amount","escrow?":{"status":["w"],"held_at":["|","@Time","0"],"next_event":["|",["w"],"0"],"next_event_at":["|","@Time","0"],"contract?":{"state":["w"],"waits":["|","s","0"],"transactions":["[",{"act":["=","deposit","drop","extend","markDelivered","markDisputed","release","refund","resolve","emergencyWithdraw"],"transaction":"s"}]}},"payment?":{"method":["=","x402","balance","subscription"],"transaction":["|","s","0"],"payer":"@Address"},"receipt_id?":"#rcp_","thread_id?":"#thr_","posting_id?":["|","#post_","0"],"subscription_id?":"#sub_","verification?":["|",{"by":["=","buyer","auto","ruling"],"rating":["|","i","0"],"comment":["|","s","0"],"at":"@Time"},"0"],"dispute?":["|",{"status":["w"],"reason":"s","category":["=","not_delivered","wrong_deliverable","quality","other"],"evidence":["[","#file_"],"opened_at":"@Time","resolution":["|",["=","release","refund","split"],"0"],"buyer_amount":["|","@Amount","0"],"resolved_by":["|",["=","admin","system"],"0"],"resolution_reason":["|","s","0"],"resolved_at":["|","@Time","0"],"decision":["|",{"by":["=","operator","default"],"outcome":["|",["=","release","refund","split"],"0"],"at":["|","@Time","0"]},"0"]},"0"],"timeline?":["[",{"at":"@Time","event":"s","detail":"s"}],"created_at":"@Time","dispatched_at?":["|","@Time","0"],"completed_at":["|","@Time","0"],"deadline_at?":["|","@Time","0"],"ended_at?":["|","@Time","0"],"about?":"@EventAbout","late?":"b"}',
  MarketPosting:
    '{"id":"#post_","posting_id":"#post_","poster_id":"#p_","title":"s","brief":["{","*"],"category":"s","budget_min_usd":"@UsdNumber","budget_max_usd":"@UsdNumber","deadline":["|","@Time","0"],"status":["w"],"expires_at":"@Time","is_subcontract":"b","bid_count":"i","created_at":"@Time","updated_at":"@Time","poster_name":"s"}',
  MarketSubscription:
    '{"id":"#sub_","subscription_id":"#sub_","plan_id":"#plan_","plan_name":"s","provider_id":"#p_","subscriber":{"participant_id":"#p_","wallet":"@Address"},"status":["w"],"has_access":"b","cancel_at_period_end":"b","billing_period":["=","monthly","annual"],"amount":"@Amount","fee":"@Amount","provider_amount":"@Amount","service_ids":["[","#svc_"],"current_period_start":"@Time","current_period_end":"@Time","next_charge_at":["|","@Time","0"],"failed_charges":"i","periods_paid":"i","payment":{"method":["=","x402","balance"],"transaction":["|","s","0"]},"receipt_id":"#rcp_","paused_at":["|","@Time","0"],"canceled_at":["|","@Time","0"],"ended_at":["|","@Time","0"],"created_at":"@Time","updated_at":"@Time","subscriber_name":"s","provider_name":"s"}',
  MarketThread:
    '{"id":"#thr_","thread_id":"#thr_","service_id":"#svc_","agent_id":["|","#p_","0"],"provider_id":"#p_","status":["w"],"proposal":["|",{"price":"@Amount","agent_price":"@Amount","provider_net_price":"@Amount","message":"s","estimated_delivery?":"s","status":["w"],"proposed_at":"@Time","expires_at":"@Time"},"0"],"job_id":["|","#job_","0"],"message_count":"i","messages?":["[","@Message"],"created_at":"@Time","updated_at":"@Time","about":"@EventAbout"}',
  Message:
    '{"id":"#msg_","message_id":"#msg_","thread_id":"#thr_","author_role":["=","buyer","provider","system"],"type":["=","message","proposal","status","file","delivery","system"],"body":"s","file_id?":"#file_","created_at":"@Time"}',
  NamedCronRun:
    '{"at":"@Time","took_ms":"i","trigger":["=","schedule","catch_up","clock","admin"],"result":["=","success","skipped","failed"],"reason":["|","s","0"],"name":"s"}',
  NamedService:
    '{"slug":["=","site-audit","security-patch","content-write","seo-optimize","design-update","maintenance-plan"],"path":"s","enabled":"b","service_id":["|","#svc_","0"],"plan_id":["|","#plan_","0"],"price":["|","@Amount","0"],"advertised":{"min":"@Amount","max":"@Amount"},"changed":"b"}',
  OwnEvent:
    '{"id":"#evt_","event_id":"#evt_","cursor":"s","created_at":"@Time","type":"s","subject":{"kind":"s","id":"s"},"data":["{","*"]}',
  OwnListing:
    '{"id":"#svc_","service_id":"#svc_","provider_id":"#p_","provider_name":"s","provider_type":["=","provider","both"],"provider_verification_tier":["w"],"name":"s","description":"s","price":{"fixed":["|","@Price","0"]},"pricing_model":["=","fixed","quote_required"],"service_type":["=","data_api","automated_service","human_service"],"fulfillment_type":["=","instant","automated","human"],"estimated_delivery":"s","input_schema":["{","@JsonValue"],"deliverable_schema":["{","@JsonValue"],"category":"s","tags":["[","s"],"status":["w"],"listed_at":"@Time","updated_at":"@Time","endpoint":"s","platform_fee_pct":"n","agent_price":{"fixed":["|","@Price","0"]},"provider_net_price":{"fixed":["|","@Price","0"]},"provider_receives_pct?":"n","webhook_healthy":"b","webhook_status":["w"],"first_party?":"b","slug?":"s","provider_reputation":["|",["|","n","@Reputation"],"0"],"provider_confidence?":"n","provider_is_new?":"b","provider_dimensions?":["{","n"],"provider_completed_jobs?":"i","provider_completion_rate?":["|","n","0"],"provider_trust?":"@Trust","service_reputation?":"@Reputation","service_type_reputation?":"@Reputation","webhook_url":["|","s","0"]}',
  OwnParticipant:
    '{"id":"#p_","participant_id":"#p_","wallet":"@Address","name":"s","description":"s","type":["=","agent","provider","both"],"verification_tier":["w"],"capabilities":["[","s"],"links":["{","s"],"first_party":"b","created_at":"@Time","webhook_url":["|","s","0"],"listable":["|","b","0"],"in_directory":"b","terms_version":["|","s","0"],"updated_at":"@Time","webhook_secret?":"s","previous_secret_until?":"@Time"}',
  Participant:
    '{"id":"#p_","participant_id":"#p_","wallet":"@Address","name":"s","description":"s","type":["=","agent","provider","both"],"verification_tier":["w"],"capabilities":["[","s"],"links":["{","s"],"first_party":"b","created_at":"@Time"}',
  PauseChange: '{"paused":"b","paused_at":["|","@Time","0"],"reason":["|","s","0"],"changed":"b"}',
  PauseState: '{"paused":"b","paused_at":["|","@Time","0"],"reason":["|","s","0"]}',
  Payee:
    '{"participant_id":"#p_","name":"s","wallet":"@Address","sold":"@Amount","earned":"@Amount","paid":"@Amount","due":"@Amount","held":"@Amount","waiting":["[","@WaitingMoney"],"next_settlement_at":["|","@Time","0"]}',
  Payout:
    '{"id":"#out_","payout_id":"#out_","kind":["=","refund","settlement","splitter","referral","withdrawal"],"wallet":"@Address","amount":"@Amount","status":["w"],"blocked":"b","reference":{"kind":"s","id":"s"},"attempts":"i","last_error":["|","s","0"],"next_attempt_at":["|","@Time","0"],"transaction":["|","s","0"],"created_at":"@Time","updated_at":"@Time"}',
  Plan: '{"id":"#plan_","plan_id":"#plan_","provider_id":"#p_","provider_name":"s","name":"s","description":"s","price":"@Amount","agent_price":"@Amount","provider_net_price":"@Amount","billing_period":["=","monthly","annual"],"service_ids":["[","#svc_"],"services":["[",{"service_id":"#svc_","name":"s","status":["w"]}],"status":["w"],"subscribers":"i","created_at":"@Time","updated_at":"@Time"}',
  Posting:
    '{"id":"#post_","posting_id":"#post_","poster_id":"#p_","title":"s","brief":["{","*"],"category":"s","budget_min_usd":"@UsdNumber","budget_max_usd":"@UsdNumber","deadline":["|","@Time","0"],"status":["w"],"expires_at":"@Time","is_subcontract":"b","bid_count":"i","created_at":"@Time","updated_at":"@Time"}',
  PostingNotifications:
    '{"participant_id":"#p_","enabled":"b","min_budget_usd":["|","@UsdNumber","0"],"max_budget_usd":["|","@UsdNumber","0"],"categories":["[","s"],"consecutive_failures":"i"}',
  Price: '["/","^-?\\\\$\\\\d{1,12}(\\\\.\\\\d{1,6})?$"]',
  Product:
    '{"id":"#prod_","product_id":"#prod_","provider_id":"#p_","provider_name":"s","name":"s","description":"s","category":"s","price":"@Amount","agent_price":"@Amount","provider_net_price":"@Amount","status":["w"],"file":["|","@FileFacts","0"],"sold":"i","endpoint":"s","created_at":"@Time","listed_at":"@Time","updated_at":"@Time"}',
  ProviderEarnings:
    '{"settled_usd":"@UsdNumber","held_usd":"@UsdNumber","pending_usd":"@UsdNumber","lifetime_usd":"@UsdNumber","next_settlement_at":["|","@Time","0"],"waiting":["[","@WaitingMoney"],"recent_settlements":["[","@Settlement"],"currency":["=","USDC"]}',
  PublicProfile:
    '{"id":"#p_","participant_id":"#p_","wallet":"@Address","name":"s","description":"s","type":["=","agent","provider","both"],"verification_tier":["w"],"capabilities":["[","s"],"links":["{","s"],"first_party":"b","created_at":"@Time","trust":"@Trust","reputation":{"band":["|","i","0"],"confidence":"n","is_new":"b"},"webhook_health?":{"healthy":["|","b","0"],"listings":"i","healthy_listings":"i"},"identity":["|","@LinkedIdentity","0"],"identity_url":"s"}',
  Purchase:
    '{"id":"#pur_","purchase_id":"#pur_","product_id":"#prod_","product_name":"s","provider_id":"#p_","amount":"@Amount","receipt_id":"#rcp_","payment":{"method":["=","x402","balance","subscription"],"transaction":["|","s","0"]},"file":"@FileFacts","download_url":"s","created_at":"@Time"}',
  Referral:
    '{"participant_id":"#p_","name":"s","type":["=","agent","provider","both"],"earned":"@Amount","registered_at":"@Time"}',
  ReferralCode: '{"referral_code":"s","participant_id":"#p_","how_to_refer":"s"}',
  ReferralEarnings:
    '{"pending":"@Amount","payable":"@Amount","blocked":"@Amount","withdrawn":"@Amount","lifetime":"@Amount","currency":["=","USDC"],"breakdown":{"agent":"@Amount","provider":"@Amount"},"history":["[",{"id":"#txn_","role":["=","agent","provider"],"amount":"@Amount","referred_id":["|","#p_","0"],"reference":{"kind":"s","id":"s"},"created_at":"@Time"}],"total":"i","limit":"i","offset":"i"}',
  ReferralProgram:
    '{"enabled":"b","description":"s","currency":["=","USDC"],"rates":{"agent_pct":"n","provider_pct":"n"},"minimum_withdrawal":"@Amount","rules":["[","s"],"participation":{"how_to_refer":"s","code_format":"s","endpoints":["[","s"]}}',
  ReferralWithdrawal:
    '{"withdrawn":"@Amount","to":["=","balance","wallet"],"payout_id":["|","#out_","0"],"balance":"@Amount","transaction_id":"#txn_","currency":["=","USDC"]}',
  Referrals:
    '{"referral_code":"s","referrals":["[","@Referral"],"total":"i","limit":"i","offset":"i","balance":{"pending":"@Amount","payable":"@Amount","blocked":"@Amount","withdrawn":"@Amount","lifetime":"@Amount","minimum_withdrawal":"@Amount","currency":["=","USDC"]}}',
  RegistrationFile:
    '{"type":["=","https://eips.ethereum.org/EIPS/eip-8004#registration-v1"],"name":"s","description":"s","image":"s","services":["[",{"name":"s","endpoint":"s"}],"x402Support":"b","active":"b","registrations":["[",{"agentId":"i","agentRegistry":"s"}],"supportedTrust":["[","s"]}',
  Reputation:
    '{"score":"n","confidence":"n","is_new":"b","dimensions":{"quality":"n","speed":"n","reliability":"n","communication":"n"},"total_jobs":"i","successful_jobs":"i","failed_jobs":"i","disputed_jobs":"i","completion_rate?":["|","n","0"],"by_service_type?":["{",{"score":"n","confidence":"n","total_jobs":"i"}]}',
  RequestRecord:
    '{"id":"s","request_id":"s","at":"@Time","method":"s","path":"s","endpoint":["|","s","0"],"status":["|","i","0"],"ms":["|","i","0"],"caller":["|","s","0"],"name":["|","s","0"],"code":["|","s","0"],"price":["|","@Amount","0"],"receipt_id":["|","#rcp_","0"],"job_id":["|","#job_","0"],"offer_id":["|","s","0"],"steps":["|","i","0"],"remembered":["=","whole","part"]}',
  River:
    '{"begins":"@Time","opening":"@Amount","paid_in":"@Amount","by_x402":"@Amount","by_balance":"@Amount","sales":"i","at_once":"@Amount","providers":"@Amount","fees":"@Amount","refunds":"@Amount","held":"@Amount","disputed":"@Amount","overdue":"@Amount","held_jobs":"i","in_flight?":"i","ended?":{"good":"i","failed":"i","refunded":"i"},"owed":"@Amount","sent":"@Amount","books":["[",{"kind":["=","ext","bal","hold","esc","prov","fees","ops","refp","ref","rfd","out","blk","oper"],"accounts":"i","amount":"@Amount"}],"agrees":"b","checked_at":["|","@Time","0"]}',
  Sanction: '{"wallet":"@Address","listed":"b","manual":"b","reason":["|","s","0"],"since":"@Time"}',
  SanctionChange:
    '{"wallet":"@Address","listed":"b","manual":"b","reason":["|","s","0"],"since":"@Time","changed":"b"}',
  SanctionRemoval: '{"wallet":"@Address","sanctioned":"b"}',
  Sanctions: '{"wallets":["[","@Sanction"],"total":"i","limit":"i","offset":"i","sdn":"@Sdn"}',
  Sdn: '{"last_updated":["|","@Time","0"],"last_checked":["|","@Time","0"],"source":"s","ofac_publish_date":["|","s","0"],"ofac_evm_count":"i","total":"i","added":"i","manual_only":"i","last_status":"s","stale":"b"}',
  Selling:
    '{"sold":"i","by_day":["[","i"],"refunded":"i","last_call":["|",{"at":"@Time","status":["|","i","0"],"ms":"i","failures":"i"},"0"]}',
  SeriesBucket:
    '{"at":"@Time","calls":{"answered":"i","asked_to_pay":"i","refused":"i","switched_off":"i","broken":"i"},"p50_ms":["|","n","0"],"p95_ms":["|","n","0"],"purchases":"i","paid_in":"@Amount","providers":"@Amount","fees":"@Amount","refunds":"@Amount"}',
  Settlement:
    '{"settlement_id":"#txn_","id":"#txn_","status":["w"],"tx_hash":["|","s","0"],"provider_amount_usd":"@UsdNumber","service_id":["|","#svc_","0"],"job_id":["|","#job_","0"],"posting_id":["|","#post_","0"],"created_at":"@Time"}',
  ShownParticipant:
    '{"id":"#p_","participant_id":"#p_","wallet":"@Address","name":"s","description":"s","type":["=","agent","provider","both"],"verification_tier":["w"],"capabilities":["[","s"],"links":["{","s"],"first_party":"b","created_at":"@Time","webhook_url?":["|","s","0"],"listable?":["|","b","0"],"in_directory?":"b","terms_version?":["|","s","0"],"updated_at?":"@Time"}',
  StoryStep:
    '{"depth":"i","kind":["=","offer","request","payment","settlement","job","milestone","delivery","attempt","books","thread","payout","act"],"id":["|","s","0"],"at":["|","@Time","0"],"sign":["=","done","waits","failed"],"amount":["|","@Amount","0"],"ms":["|","i","0"],"sentence":"s"}',
  Subscription:
    '{"id":"#sub_","subscription_id":"#sub_","plan_id":"#plan_","plan_name":"s","provider_id":"#p_","subscriber":{"participant_id":"#p_","wallet":"@Address"},"status":["w"],"has_access":"b","cancel_at_period_end":"b","billing_period":["=","monthly","annual"],"amount":"@Amount","fee":"@Amount","provider_amount":"@Amount","service_ids":["[","#svc_"],"current_period_start":"@Time","current_period_end":"@Time","next_charge_at":["|","@Time","0"],"failed_charges":"i","periods_paid":"i","payment":{"method":["=","x402","balance"],"transaction":["|","s","0"]},"receipt_id":"#rcp_","paused_at":["|","@Time","0"],"canceled_at":["|","@Time","0"],"ended_at":["|","@Time","0"],"created_at":"@Time","updated_at":"@Time"}',
  Thread:
    '{"id":"#thr_","thread_id":"#thr_","service_id":"#svc_","agent_id":["|","#p_","0"],"provider_id":"#p_","status":["w"],"proposal":["|",{"price":"@Amount","agent_price":"@Amount","provider_net_price":"@Amount","message":"s","estimated_delivery?":"s","status":["w"],"proposed_at":"@Time","expires_at":"@Time"},"0"],"job_id":["|","#job_","0"],"message_count":"i","messages?":["[","@Message"],"created_at":"@Time","updated_at":"@Time"}',
  ThreadWithJob:
    '{"id":"#thr_","thread_id":"#thr_","service_id":"#svc_","agent_id":["|","#p_","0"],"provider_id":"#p_","status":["w"],"proposal":["|",{"price":"@Amount","agent_price":"@Amount","provider_net_price":"@Amount","message":"s","estimated_delivery?":"s","status":["w"],"proposed_at":"@Time","expires_at":"@Time"},"0"],"job_id":["|","#job_","0"],"message_count":"i","messages?":["[","@Message"],"created_at":"@Time","updated_at":"@Time","job?":"@Job"}',
  Time: '["/","^\\\\d{4}-\\\\d\\\\d-\\\\d\\\\dT\\\\d\\\\d:\\\\d\\\\d:\\\\d\\\\d\\\\.\\\\d{3}Z$"]',
  Trust:
    '{"verdict":["w"],"level":"i","level_name":"s","confidence":"n","sandbox_verified":"b","disputed":"b","risk_flags":["[","s"],"issued_at":["|","@Time","0"],"expires_at":["|","@Time","0"],"subject_id":["|","s","0"],"subject_count":"i","trust_url":["|","s","0"],"first_party":"b","score":["|","i","0"],"is_new":"b"}',
  UsdNumber: '"n"',
  VerdictAnchor:
    '{"subject":"@Bytes32","root":"@Bytes32","seq":"i","uri":"s","transaction":"@Bytes32","anchored_at":"@Time"}',
  VerificationAttempt:
    '{"id":"#vat_","attempt_id":"#vat_","participant_id":"#p_","status":["w"],"operator_name":["|","s","0"],"consented_at":["|","@Time","0"],"vendor_url":["|","s","0"],"reason":["|","s","0"],"created_at":"@Time","expires_at":"@Time","ended_at":["|","@Time","0"]}',
  WaitingMoney:
    '{"reason":["=","undelivered","in_review","disputed","release_due","escrow_paused","scheduled","payout_first","on_its_way","no_key","paused","settlement_paused","suspended","sanctioned","unscreened"],"amount_usd":"@UsdNumber","sales":"i","until":["|","@Time","0"]}',
  WalletTrust:
    '{"verdict":["w"],"level":"i","level_name":"s","confidence":"n","sandbox_verified":"b","disputed":"b","risk_flags":["[","s"],"issued_at":["|","@Time","0"],"expires_at":["|","@Time","0"],"subject_id":["|","s","0"],"subject_count":"i","trust_url":["|","s","0"],"first_party":"b","score":["|","i","0"],"is_new":"b","wallet":"@Address","evidence_root":["|","@Bytes32","0"]}',
}

/** What each endpoint answers, see `AnswerShape`. */
export const answers = {
  getCatalog:
    '{"total":"i","limit":"i","offset":"i","services":["[","@Listing"],"queried_at":"@Time","referral_hint":"s"}',
  listAllServices:
    '{"services":["[","@AdminListing"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  listAllPlans: '{"plans":["[","@Plan"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  listAllSubscriptions:
    '{"subscriptions":["[","@MarketSubscription"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  listAllPostings:
    '{"postings":["[","@MarketPosting"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  listAllProducts:
    '{"products":["[","@Product"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  siteAudit:
    '{"job_id":"#job_","thread_id":"#thr_","status":["w"],"service_id?":"#svc_","result?":"@JsonValue","deliverables?":["[","@JsonValue"],"status_url?":"s","amount":"@Amount","subscription_id?":"#sub_","receipt_id":"#rcp_","access_token?":["|","s","0"],"secret_withheld?":"b"}',
  securityPatch:
    '{"job_id":"#job_","thread_id":"#thr_","status":["w"],"service_id?":"#svc_","result?":"@JsonValue","deliverables?":["[","@JsonValue"],"status_url?":"s","amount":"@Amount","subscription_id?":"#sub_","receipt_id":"#rcp_","access_token?":["|","s","0"],"secret_withheld?":"b"}',
  contentWrite:
    '{"job_id":"#job_","thread_id":"#thr_","status":["w"],"service_id?":"#svc_","result?":"@JsonValue","deliverables?":["[","@JsonValue"],"status_url?":"s","amount":"@Amount","subscription_id?":"#sub_","receipt_id":"#rcp_","access_token?":["|","s","0"],"secret_withheld?":"b"}',
  seoOptimize:
    '{"job_id":"#job_","thread_id":"#thr_","status":["w"],"service_id?":"#svc_","result?":"@JsonValue","deliverables?":["[","@JsonValue"],"status_url?":"s","amount":"@Amount","subscription_id?":"#sub_","receipt_id":"#rcp_","access_token?":["|","s","0"],"secret_withheld?":"b"}',
  designUpdate:
    '{"job_id":"#job_","thread_id":"#thr_","status":["w"],"service_id?":"#svc_","result?":"@JsonValue","deliverables?":["[","@JsonValue"],"status_url?":"s","amount":"@Amount","subscription_id?":"#sub_","receipt_id":"#rcp_","access_token?":["|","s","0"],"secret_withheld?":"b"}',
  maintenancePlan: '"@Subscription"',
  getService: '"@Listing"',
  discover:
    '{"services":["[","@Listing"],"total":"i","next":["|","s","0"],"guide":{"steps":["[",{"title":"s","text":"s","request":{"method":"s","url":"s","headers":["{","s"],"body?":["{","*"]},"curl":"s"}]},"guide_markdown":"s"}',
  createService: '"@OwnListing"',
  updateService: '"@OwnListing"',
  deleteService: '{"id":"#svc_","service_id":"#svc_","deleted":["=",true]}',
  purchaseService:
    '{"job_id":"#job_","thread_id":"#thr_","status":["w"],"service_id?":"#svc_","result?":"@JsonValue","deliverables?":["[","@JsonValue"],"status_url?":"s","amount":"@Amount","subscription_id?":"#sub_","receipt_id":"#rcp_","access_token?":["|","s","0"],"secret_withheld?":"b"}',
  inquire: '"@Thread"',
  testService:
    '{"delivered":"b","status":["|","i","0"],"latency_ms":"i","signature_headers":["{","s"],"response_excerpt":"s","error?":"s"}',
  register:
    '{"participant_id":"#p_","id":"#p_","api_key":["|","s","0"],"webhook_secret":["|","s","0"],"type":["=","agent","provider","both"],"wallet":"@Address","secret_withheld?":"b"}',
  rotateKey:
    '{"participant_id":"#p_","id":"#p_","api_key":["|","s","0"],"wallet":"@Address","rotated_at":"@Time","secret_withheld?":"b"}',
  onboardProvider:
    '{"participant_id":"#p_","id":"#p_","api_key":["|","s","0"],"webhook_secret":["|","s","0"],"type":["=","agent","provider","both"],"wallet":"@Address","secret_withheld?":"b","services":["[","@OwnListing"]}',
  getDirectory: '{"participants":["[","@Participant"],"limit":"i","next_cursor":["|","s","0"]}',
  getProfile: '"@PublicProfile"',
  getIdentityFile: '"@RegistrationFile"',
  getParticipant: '"@ShownParticipant"',
  updateParticipant: '"@OwnParticipant"',
  linkIdentity:
    '{"agent_registry":"s","agent_id":"s","linked_at":"@Time","participant_id":"#p_","id":"#p_","wallet":"@Address","identity_url":"s"}',
  startVerification: '{"attempt_id":"#vat_","consent_url":"s","expires_at":"@Time"}',
  getVerificationStatus:
    '{"participant_id":"#p_","verification_tier":["w"],"attempt":["|","@VerificationAttempt","0"],"last_attempt":["|","@VerificationAttempt","0"]}',
  consentToVerification:
    '{"message":"s","attempt_id":"#vat_","status":["w"],"vendor":"s","vendor_url":["|","s","0"],"consented_at":"@Time","expires_at":"@Time"}',
  receiveVendorCallback: '{"attempt_id":"#vat_","status":["w"]}',
  getTerms: '{"version":"s","required":"b","url":"s","text":"s"}',
  acceptTerms: '{"participant_id":"#p_","version":"s","accepted_at":"@Time"}',
  listThreads: '{"threads":["[","@Thread"],"total":"i","limit":"i","offset":"i"}',
  getThread: '"@Thread"',
  postThreadMessage: '"@Message"',
  uploadThreadFile: '"@Attachment"',
  proposePrice: '"@Thread"',
  acceptPrice: '"@AcceptedThread"',
  declineThread: '"@ThreadWithJob"',
  updateThread: '"@ThreadWithJob"',
  verifyThread: '"@ThreadWithJob"',
  disputeThread: '"@ThreadWithJob"',
  getJob: '"@Job"',
  listJobs: '{"jobs":["[","@Job"],"total":"i","limit":"i","offset":"i"}',
  getJobMessages:
    '{"job_id":"#job_","thread_id":"#thr_","messages":["[","@Message"],"total":"i","limit":"i","offset":"i"}',
  postJobMessage: '"@Message"',
  verifyJob: '"@Job"',
  disputeJob: '"@Job"',
  updateJob: '"@Job"',
  listPlans: '{"plans":["[","@Plan"],"total":"i","limit":"i","offset":"i"}',
  createPlan: '"@Plan"',
  getPlan: '"@Plan"',
  updatePlan: '"@Plan"',
  deletePlan: '{"id":"#plan_","plan_id":"#plan_","deleted":["=",true]}',
  subscribe: '"@Subscription"',
  listSubscriptions: '{"subscriptions":["[","@Subscription"],"total":"i","limit":"i","offset":"i"}',
  getSubscription: '"@Subscription"',
  cancelSubscription: '"@Subscription"',
  pauseSubscription: '"@Subscription"',
  resumeSubscription: '"@Subscription"',
  listPostings: '{"postings":["[","@Posting"],"total":"i","limit":"i","offset":"i","next_cursor":["|","s","0"]}',
  getPostingNotifications: '"@PostingNotifications"',
  getPosting: '"@Posting"',
  listBids: '{"bids":["[","@Bid"],"total":"i","limit":"i","offset":"i"}',
  createPosting: '"@Posting"',
  cancelPosting: '"@Posting"',
  createBid: '"@Bid"',
  withdrawBid: '"@Bid"',
  awardPosting:
    '{"posting_id":"#post_","bid_id":"#bid_","job_id":"#job_","thread_id":"#thr_","status":["=","dispatched"],"service_id":"#svc_","status_url":"s","amount":"@Amount","receipt_id":"#rcp_"}',
  setPostingNotifications: '"@PostingNotifications"',
  endPostingNotifications: '"@PostingNotifications"',
  listProducts: '{"products":["[","@Product"],"total":"i","limit":"i","offset":"i"}',
  createProduct: '"@Product"',
  getProduct: '"@Product"',
  updateProduct: '"@Product"',
  deleteProduct: '{"id":"#prod_","product_id":"#prod_","deleted":["=",true]}',
  purchaseProduct: '"@Purchase"',
  listPurchases: '{"purchases":["[","@Purchase"],"total":"i","limit":"i","offset":"i"}',
  getBalance: '"@Balance"',
  getBalanceHistory: '{"entries":["[","@BalanceEntry"],"total":"i","limit":"i","offset":"i"}',
  deposit: '{"balance":"@Amount","credited":"@Amount","transaction_id":"#txn_"}',
  withdrawBalance: '"@BalanceWithdrawal"',
  openFaucet:
    '{"wallet":"@Address","credited":"@Amount","balance":"@Amount","transaction":"s","remaining_today":"@Amount"}',
  readEvents: '{"events":["[","@OwnEvent"],"next_cursor":"s"}',
  getReputations: '{"verdicts":["[","@WalletTrust"]}',
  getOnchainReputation:
    '{"wallet":"@Address","agent_registry":["|","s","0"],"agent_id":["|","s","0"],"summaries":["[","@FeedbackSummary"],"anchors":["[","@VerdictAnchor"]}',
  getReputation: '"@WalletTrust"',
  getEarnings: '"@ProviderEarnings"',
  listPayees: '{"payees":["[","@Payee"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  getReferralProgram: '"@ReferralProgram"',
  getReferralCode: '"@ReferralCode"',
  listReferrals: '"@Referrals"',
  getReferralEarnings: '"@ReferralEarnings"',
  withdrawReferrals: '"@ReferralWithdrawal"',
  listDeliveries: '{"deliveries":["[","@Delivery"],"total":"i","limit":"i","offset":"i"}',
  replayDelivery: '"@Delivery"',
  getHealth: '"@Health"',
  getPlatformStatus: '"@PauseState"',
  pausePlatform: '"@PauseChange"',
  unpausePlatform: '"@PauseChange"',
  getEscrowPaused: '"@PauseState"',
  pauseEscrow: '"@PauseChange"',
  unpauseEscrow: '"@PauseChange"',
  listCrons: '{"crons":["[","@Cron"],"automatic":"b"}',
  runCron: '{"name":"s","run":"@CronRun"}',
  pauseCron: '"@CronChange"',
  resumeCron: '"@CronChange"',
  getFeatures: '"@Features"',
  setFeatures: '"@FeaturesChange"',
  setNamedService: '"@NamedService"',
  getAdminLog: '{"acts":["[","@AdminAct"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  getClock: '"@Clock"',
  moveClock: '"@ClockChange"',
  listAllJobs: '{"jobs":["[","@MarketJob"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  getJobBundle: '"@JobBundle"',
  resolveJob: '"@Job"',
  withdrawJob: '"@Job"',
  listAllThreads:
    '{"threads":["[","@MarketThread"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  readAnyThread: '"@MarketThread"',
  answerForHouse: '"@Message"',
  getHolds: '{"holds":["[","@Hold"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  getAudit: '"@AuditReport"',
  getPayouts: '{"payouts":["[","@Payout"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  adjustBalance: '{"participant_id":"#p_","adjusted":"@Amount","balance":"@Amount","transaction_id":"#txn_"}',
  listSanctions: '"@Sanctions"',
  addSanction: '"@SanctionChange"',
  removeSanction: '"@SanctionRemoval"',
  replayForOperator: '"@Delivery"',
  getWebhooks:
    '{"deliveries":["[","@Delivery"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"},"counts":{"pending":"i","delivered":"i","dead":"i","dropped":"i"}}',
  getAttention:
    '{"items":["[","@AttentionItem"],"counts":{"journal":"i","disk":"i","chain":"i","reversed":"i","payout":"i","dispute":"i","overdue":"i","unserved_period":"i","delivery":"i","endpoint":"i","cron":"i","engine":"i","sanctions_list":"i","platform":"i","escrow":"i"},"total":"i"}',
  getChain:
    '{"mode":"s","network":"s","caip2":"s","health":["=","ok","degraded","down"],"faults":["[",{"code":"s","sentence":"s"}],"head":["|",{"block":"i","age_seconds":"i"},"0"],"lag_blocks":"i","nodes":["[",{"node":"s","head":["|","i","0"],"error":["|","s","0"]}],"pay_to":"@Address","asset":"@Address","gas_key":["|",{"address":"@Address","wei":"s","payments":"i"},"0"],"queue":{"waiting":"i","in_flight":"i","oldest_seconds":["|","i","0"],"held":["|",["=","gas","fee"],"0"],"token_paused":"b","resent":"i","replaced":"i","reorged":"i","reversed":"i","failed":"i","foreign_nonces":"i","last_error":["|","s","0"]},"books":["|",{"ok":"b","detail":"s"},"0"],"transactions":["[","@ChainTransaction"],"total":"i","limit":"i","offset":"i"}',
  listEngines: '{"engines":["[","@Engine"]}',
  checkEngines: '{"engines":["[","@Engine"]}',
  listRequests: '{"requests":["[","@RequestRecord"],"next_cursor":"s"}',
  getRequestStory: '{"id":"s","steps":["[","@StoryStep"],"next":["[","s"],"lost":["|","s","0"]}',
  getSeries: '{"span":["=","hour","day","week"],"bucket_seconds":"i","since":"@Time","buckets":["[","@SeriesBucket"]}',
  getEndpointFigures: '{"hours":"i","since":"@Time","endpoints":["[","@EndpointFigures"]}',
  getRiver: '"@River"',
  faucet:
    '{"wallet":"@Address","credited":"@Amount","balance":"@Amount","transaction":"s","identity?":{"agent_registry":"s","agent_id":"s"}}',
  getLogs: '{"records":["[",["{","*"]],"dropped":"i"}',
  listParticipants:
    '{"participants":["[","@AdminParticipant"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  setParticipant: '"@AdminParticipant"',
  listResources:
    '{"x402Version":["=",2],"items":["[","@DiscoveredResource"],"pagination":{"limit":"i","offset":"i","total":"i"}}',
  searchResources:
    '{"x402Version":["=",2],"resources":["[","@DiscoveredResource"],"pagination":{"limit":"i","cursor":["|","s","0"]}}',
  getManifest:
    '{"version":["=",1],"x402Version":["=",2],"resources":["[","s"],"payTo":"s","network":"s","discovery":"s","search":"s","openapi":"s","instructions":"s"}',
  recordTrace: '{"trace_id":"#trc_","link":["|","s","0"],"link_expires_at":["|","@Time","0"]}',
  getWatching:
    '{"as_of":"@Time","days":["[",{"date":["/","^(?:(?:\\\\d\\\\d[2468][048]|\\\\d\\\\d[13579][26]|\\\\d\\\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\\\d|30)|(?:02)-(?:0[1-9]|1\\\\d|2[0-8])))$"],"trust_queries":"i","explorer_interactions":"i","distinct_callers":"i"}]}',
  listVerifications:
    '{"attempts":["[","@ListedVerificationAttempt"],"total":"i","limit":"i","offset":"i","searched?":{"rows":"i","of":"i"}}',
  decideVerification: '"@VerificationAttempt"',
  verifyPayment: '"@FacilitatorVerdict"',
  settlePayment: '"@FacilitatorSettlement"',
  getSupportedPayments:
    '{"kinds":["[",{"x402Version":"i","scheme":"s","network":"s","extra?":["{","*"]}],"extensions":["[","s"],"signers":["{",["[","s"]]}',
  listFacilitatedResources:
    '{"x402Version":["=",2],"items":["[","@FacilitatedResource"],"pagination":{"limit":"i","offset":"i","total":"i"}}',
  listFacilitatedSettlements:
    '{"enabled":"b","url":"s","keyless":"b","network":"s","caip2":"s","asset":{"address":"@Address","name":"s","version":"s","decimals":"i"},"pay_to":["[","@Address"],"min_value":"@Amount","daily_gas":"i","today":["[",{"seller":"s","settlements":"i","gas":"i"}],"settlements":["[","@FacilitatedSettlement"],"total":"i","limit":"i","offset":"i"}',
} as const

/** What each event of a stream is. */
export const events = {
  streamEvents: '"@MarketEvent"',
} as const
