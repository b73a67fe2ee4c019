/** When phone numbers changed. */
export const sql = `
alter table phone_numbers add column updated_at timestamptz not null default now();
create trigger phone_numbers_touched before update on phone_numbers for each row execute function touch_updated_at();
`
