import { Type } from 'typebox'
import { agentById } from '../../store/agents/agents.ts'
import { fieldOf, headerOf, variableNames } from '../../store/prospects/prospect-columns.ts'
import { REFUSALS } from '../../store/prospects/prospect-row.ts'
import type { UploadPreview, UploadPreviewParams } from '../../store/prospects/upload-preview.ts'
import { policyOf } from '../../workers/dialer/policy.ts'
import { namesLeftOut } from '../agents/variable-warnings.ts'
import { hasCampaign, requireCampaign } from '../campaigns/access.ts'
import { slug } from '../campaigns/routes.ts'
import { receivePreview } from '../http/receive-preview.ts'
import { defineRoute } from '../route.ts'
import { Mapping, readMapping } from './mapping.ts'
import { UploadPreviewBody, uploadPreviewExample } from './preview-schema.ts'
import { Attested, Dedupe } from './uploads.ts'

const LOADER = new URL('../../store/prospects/upload-preview.ts', import.meta.url)
const preview = defineRoute({
  method: 'POST',
  path: '/api/v/campaign/{slug}/preview/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  audit: false,
  params: { slug },
  isThere: hasCampaign,
  form: Type.Object({ dedupe: Dedupe, mapping: Mapping, consent_attested: Attested }),
  files: {
    original_data: { description: 'CSV, as for an upload to a list of the campaign.', required: true, many: false },
  },
  success: { status: 200, schema: UploadPreviewBody },
  errors: [
    'malformed_body',
    'file_too_large',
    'csv_without_rows',
    'csv_without_column',
    'csv_too_many_columns',
    'csv_row_too_long',
    'workbook_unreadable',
    'workbook_too_large',
    'campaign_not_found',
    'unavailable',
  ],
  tag: 'Prospects',
  summary: 'What an upload would load, and what it would leave out and why',
  description: 'Nothing is kept. Rows are judged as an upload judges them.',
  examples: {
    body: { original_data: 'Mobile,plan\n+14155550199,gold\n12,silver\n', mapping: '{"Mobile":"primary_phone"}' },
    success: uploadPreviewExample,
  },
  handler: async (request, { databaseUrl, clock, calling }) => {
    const { params, tenant } = request
    const campaign = await requireCampaign(tenant, params.slug)
    const { consentRequired, ignoredRegions } = policyOf(campaign, calling.places)
    let mapping: ReturnType<typeof readMapping> = {}
    const { filename, result } = await receivePreview<PreviewFields, UploadPreviewParams, UploadPreview>(
      request,
      { databaseUrl, loader: LOADER, field: 'original_data' },
      (fields) => {
        mapping = readMapping(fields.mapping)
        return {
          workspaceId: tenant.workspaceId,
          campaignId: campaign.id,
          mapping,
          dedupe: fields.dedupe,
          isAttested: fields.consent_attested,
          campaign: {
            localeName: campaign.locale_name,
            dupeDays: campaign.dupe_days,
            consentRequired,
            ignoredRegions,
          },
          rulesFile: calling.rulesFile,
          nowMs: clock.nowMs(),
        }
      },
    )
    const { columns, hasPhone, total, judged, loaded, refused, held, skipped } = result
    const header = headerOf(
      columns.map(({ name }) => name),
      mapping,
    )
    const agent = campaign.agent_id === null ? undefined : await agentById(tenant, campaign.agent_id)
    return {
      filename,
      left_out: agent === undefined ? [] : namesLeftOut(agent, variableNames(header)),
      columns: columns.map(({ name, samples }, at) => {
        const { own, variable } = fieldOf(name, mapping)
        const isRead = own !== undefined && header.at.get(own) === at
        return { name, field: isRead ? own : null, variable: variable ?? null, samples }
      }),
      has_phone: hasPhone,
      rows: {
        total,
        judged,
        loaded,
        duplicates: refused.duplicate,
        invalid: refused.invalid_number + refused.invalid_consent + refused.invalid_metadata,
        do_not_call: refused.do_not_call,
      },
      held,
      skipped: skipped.map(({ line, reason, phone }) => ({
        line,
        code: reason,
        reason: REFUSALS[reason],
        primary_phone: phone,
      })),
    }
  },
})

interface PreviewFields {
  dedupe: boolean
  mapping?: string
  consent_attested: boolean
}

export const prospectPreviewRoutes = [preview]
