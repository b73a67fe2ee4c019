/** Of a batch, in one row of batch_rows. The threads that write them load nothing else of those that read them. */
export const ROWS_PER_BLOCK = 32
