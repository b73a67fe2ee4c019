;; A polyphase filter over 16-bit samples: eight taps at a time, in two sums of four.
;; convolve.ts holds the compiled module; test/unit/runtime/media/dsp/resample.test.ts compiles this file and compares.
(module
  (memory (export "memory") 2)
  ;; phases: f32[up][taps], taps a multiple of 8; input: i16[]; out: i16[count]. The first sample of out is at `phase`, counted in
  ;; 1/up of a sample of input, and each next one `down` after it.
  (func (export "convolve") (param $phases i32) (param $taps i32) (param $up i32) (param $down i32)
    (param $input i32) (param $phase i32) (param $out i32) (param $count i32)
    (local $row i32) (local $tap i32) (local $end i32) (local $at i32) (local $even v128) (local $odd v128)
    (if (i32.eqz (local.get $count)) (then (return)))
    (local.set $row (i32.shl (local.get $taps) (i32.const 2)))
    (loop $each
      (local.set $tap (i32.add (local.get $phases) (i32.mul (local.get $phase) (local.get $row))))
      (local.set $end (i32.add (local.get $tap) (local.get $row)))
      (local.set $at (local.get $input))
      (local.set $even (v128.const f32x4 0 0 0 0))
      (local.set $odd (v128.const f32x4 0 0 0 0))
      (loop $eight
        (local.set $even (f32x4.add (local.get $even) (f32x4.mul
          (v128.load (local.get $tap))
          (f32x4.convert_i32x4_s (v128.load16x4_s (local.get $at))))))
        (local.set $odd (f32x4.add (local.get $odd) (f32x4.mul
          (v128.load offset=16 (local.get $tap))
          (f32x4.convert_i32x4_s (v128.load16x4_s offset=8 (local.get $at))))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $eight (i32.lt_u
          (local.tee $tap (i32.add (local.get $tap) (i32.const 32)))
          (local.get $end))))
      (local.set $even (f32x4.add (local.get $even) (local.get $odd)))
      ;; Rounded, and at most what 16 bits hold.
      (i32.store16 (local.get $out) (i16x8.extract_lane_s 0 (i16x8.narrow_i32x4_s
        (i32x4.splat (i32.trunc_sat_f32_s (f32.nearest (f32.add
          (f32.add (f32x4.extract_lane 0 (local.get $even)) (f32x4.extract_lane 1 (local.get $even)))
          (f32.add (f32x4.extract_lane 2 (local.get $even)) (f32x4.extract_lane 3 (local.get $even)))))))
        (v128.const i32x4 0 0 0 0))))
      (local.set $out (i32.add (local.get $out) (i32.const 2)))
      (local.set $phase (i32.add (local.get $phase) (local.get $down)))
      (block $there
        (loop $next
          (br_if $there (i32.lt_u (local.get $phase) (local.get $up)))
          (local.set $phase (i32.sub (local.get $phase) (local.get $up)))
          (local.set $input (i32.add (local.get $input) (i32.const 2)))
          (br $next)))
      (br_if $each (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))))
