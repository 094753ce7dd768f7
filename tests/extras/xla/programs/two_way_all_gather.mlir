module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=8]> {stablehlo.mesh = {axes = [{name = "d", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x6xf32>) -> (tensor<8x48xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d"} (%arg1: tensor<1x6xf32>) {
      %1 = stablehlo.reshape %arg1 : (tensor<1x6xf32>) -> tensor<6xf32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<8> : tensor<ui32>
      %2 = stablehlo.partition_id : tensor<ui32>
      %3 = stablehlo.divide %2, %c : tensor<ui32>
      %4 = stablehlo.remainder %3, %c_0 : tensor<ui32>
      %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<48xf32>
      %c_1 = stablehlo.constant dense<6> : tensor<i32>
      %7 = stablehlo.multiply %5, %c_1 : tensor<i32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.compare LT, %7, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_3 = stablehlo.constant dense<48> : tensor<i32>
      %9 = stablehlo.add %7, %c_3 : tensor<i32>
      %10 = stablehlo.select %8, %9, %7 : tensor<i1>, tensor<i32>
      %11 = stablehlo.dynamic_update_slice %6, %1, %10 : (tensor<48xf32>, tensor<6xf32>, tensor<i32>) -> tensor<48xf32>
      %12 = stablehlo.slice %1 [0:3] : (tensor<6xf32>) -> tensor<3xf32>
      %13 = stablehlo.slice %1 [3:6] : (tensor<6xf32>) -> tensor<3xf32>
      %14 = "stablehlo.collective_permute"(%12) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %15 = "stablehlo.collective_permute"(%13) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6], [0, 7]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %16 = stablehlo.subtract %5, %c_4 : tensor<i32>
      %c_5 = stablehlo.constant dense<8> : tensor<i32>
      %17 = func.call @remainder(%16, %c_5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_6 = stablehlo.constant dense<6> : tensor<i32>
      %18 = stablehlo.multiply %17, %c_6 : tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %19 = stablehlo.compare LT, %18, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<48> : tensor<i32>
      %20 = stablehlo.add %18, %c_8 : tensor<i32>
      %21 = stablehlo.select %19, %20, %18 : tensor<i1>, tensor<i32>
      %22 = stablehlo.dynamic_update_slice %11, %14, %21 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %c_9 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.add %5, %c_9 : tensor<i32>
      %c_10 = stablehlo.constant dense<8> : tensor<i32>
      %24 = func.call @remainder(%23, %c_10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_11 = stablehlo.constant dense<6> : tensor<i32>
      %25 = stablehlo.multiply %24, %c_11 : tensor<i32>
      %c_12 = stablehlo.constant dense<3> : tensor<i32>
      %26 = stablehlo.add %25, %c_12 : tensor<i32>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %27 = stablehlo.compare LT, %26, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_14 = stablehlo.constant dense<48> : tensor<i32>
      %28 = stablehlo.add %26, %c_14 : tensor<i32>
      %29 = stablehlo.select %27, %28, %26 : tensor<i1>, tensor<i32>
      %30 = stablehlo.dynamic_update_slice %22, %15, %29 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %31 = "stablehlo.collective_permute"(%14) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %32 = "stablehlo.collective_permute"(%15) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6], [0, 7]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_15 = stablehlo.constant dense<2> : tensor<i32>
      %33 = stablehlo.subtract %5, %c_15 : tensor<i32>
      %c_16 = stablehlo.constant dense<8> : tensor<i32>
      %34 = func.call @remainder(%33, %c_16) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_17 = stablehlo.constant dense<6> : tensor<i32>
      %35 = stablehlo.multiply %34, %c_17 : tensor<i32>
      %c_18 = stablehlo.constant dense<0> : tensor<i32>
      %36 = stablehlo.compare LT, %35, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_19 = stablehlo.constant dense<48> : tensor<i32>
      %37 = stablehlo.add %35, %c_19 : tensor<i32>
      %38 = stablehlo.select %36, %37, %35 : tensor<i1>, tensor<i32>
      %39 = stablehlo.dynamic_update_slice %30, %31, %38 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %c_20 = stablehlo.constant dense<2> : tensor<i32>
      %40 = stablehlo.add %5, %c_20 : tensor<i32>
      %c_21 = stablehlo.constant dense<8> : tensor<i32>
      %41 = func.call @remainder(%40, %c_21) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_22 = stablehlo.constant dense<6> : tensor<i32>
      %42 = stablehlo.multiply %41, %c_22 : tensor<i32>
      %c_23 = stablehlo.constant dense<3> : tensor<i32>
      %43 = stablehlo.add %42, %c_23 : tensor<i32>
      %c_24 = stablehlo.constant dense<0> : tensor<i32>
      %44 = stablehlo.compare LT, %43, %c_24, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_25 = stablehlo.constant dense<48> : tensor<i32>
      %45 = stablehlo.add %43, %c_25 : tensor<i32>
      %46 = stablehlo.select %44, %45, %43 : tensor<i1>, tensor<i32>
      %47 = stablehlo.dynamic_update_slice %39, %32, %46 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %48 = "stablehlo.collective_permute"(%31) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %49 = "stablehlo.collective_permute"(%32) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6], [0, 7]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_26 = stablehlo.constant dense<3> : tensor<i32>
      %50 = stablehlo.subtract %5, %c_26 : tensor<i32>
      %c_27 = stablehlo.constant dense<8> : tensor<i32>
      %51 = func.call @remainder(%50, %c_27) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_28 = stablehlo.constant dense<6> : tensor<i32>
      %52 = stablehlo.multiply %51, %c_28 : tensor<i32>
      %c_29 = stablehlo.constant dense<0> : tensor<i32>
      %53 = stablehlo.compare LT, %52, %c_29, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_30 = stablehlo.constant dense<48> : tensor<i32>
      %54 = stablehlo.add %52, %c_30 : tensor<i32>
      %55 = stablehlo.select %53, %54, %52 : tensor<i1>, tensor<i32>
      %56 = stablehlo.dynamic_update_slice %47, %48, %55 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %c_31 = stablehlo.constant dense<3> : tensor<i32>
      %57 = stablehlo.add %5, %c_31 : tensor<i32>
      %c_32 = stablehlo.constant dense<8> : tensor<i32>
      %58 = func.call @remainder(%57, %c_32) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_33 = stablehlo.constant dense<6> : tensor<i32>
      %59 = stablehlo.multiply %58, %c_33 : tensor<i32>
      %c_34 = stablehlo.constant dense<3> : tensor<i32>
      %60 = stablehlo.add %59, %c_34 : tensor<i32>
      %c_35 = stablehlo.constant dense<0> : tensor<i32>
      %61 = stablehlo.compare LT, %60, %c_35, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_36 = stablehlo.constant dense<48> : tensor<i32>
      %62 = stablehlo.add %60, %c_36 : tensor<i32>
      %63 = stablehlo.select %61, %62, %60 : tensor<i1>, tensor<i32>
      %64 = stablehlo.dynamic_update_slice %56, %49, %63 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %65 = "stablehlo.collective_permute"(%48) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %66 = "stablehlo.collective_permute"(%49) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6], [0, 7]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_37 = stablehlo.constant dense<4> : tensor<i32>
      %67 = stablehlo.subtract %5, %c_37 : tensor<i32>
      %c_38 = stablehlo.constant dense<8> : tensor<i32>
      %68 = func.call @remainder(%67, %c_38) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_39 = stablehlo.constant dense<6> : tensor<i32>
      %69 = stablehlo.multiply %68, %c_39 : tensor<i32>
      %c_40 = stablehlo.constant dense<0> : tensor<i32>
      %70 = stablehlo.compare LT, %69, %c_40, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_41 = stablehlo.constant dense<48> : tensor<i32>
      %71 = stablehlo.add %69, %c_41 : tensor<i32>
      %72 = stablehlo.select %70, %71, %69 : tensor<i1>, tensor<i32>
      %73 = stablehlo.dynamic_update_slice %64, %65, %72 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %c_42 = stablehlo.constant dense<4> : tensor<i32>
      %74 = stablehlo.add %5, %c_42 : tensor<i32>
      %c_43 = stablehlo.constant dense<8> : tensor<i32>
      %75 = func.call @remainder(%74, %c_43) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_44 = stablehlo.constant dense<6> : tensor<i32>
      %76 = stablehlo.multiply %75, %c_44 : tensor<i32>
      %c_45 = stablehlo.constant dense<3> : tensor<i32>
      %77 = stablehlo.add %76, %c_45 : tensor<i32>
      %c_46 = stablehlo.constant dense<0> : tensor<i32>
      %78 = stablehlo.compare LT, %77, %c_46, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_47 = stablehlo.constant dense<48> : tensor<i32>
      %79 = stablehlo.add %77, %c_47 : tensor<i32>
      %80 = stablehlo.select %78, %79, %77 : tensor<i1>, tensor<i32>
      %81 = stablehlo.dynamic_update_slice %73, %66, %80 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %82 = "stablehlo.collective_permute"(%65) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %83 = "stablehlo.collective_permute"(%66) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6], [0, 7]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_48 = stablehlo.constant dense<5> : tensor<i32>
      %84 = stablehlo.subtract %5, %c_48 : tensor<i32>
      %c_49 = stablehlo.constant dense<8> : tensor<i32>
      %85 = func.call @remainder(%84, %c_49) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_50 = stablehlo.constant dense<6> : tensor<i32>
      %86 = stablehlo.multiply %85, %c_50 : tensor<i32>
      %c_51 = stablehlo.constant dense<0> : tensor<i32>
      %87 = stablehlo.compare LT, %86, %c_51, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_52 = stablehlo.constant dense<48> : tensor<i32>
      %88 = stablehlo.add %86, %c_52 : tensor<i32>
      %89 = stablehlo.select %87, %88, %86 : tensor<i1>, tensor<i32>
      %90 = stablehlo.dynamic_update_slice %81, %82, %89 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %c_53 = stablehlo.constant dense<5> : tensor<i32>
      %91 = stablehlo.add %5, %c_53 : tensor<i32>
      %c_54 = stablehlo.constant dense<8> : tensor<i32>
      %92 = func.call @remainder(%91, %c_54) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_55 = stablehlo.constant dense<6> : tensor<i32>
      %93 = stablehlo.multiply %92, %c_55 : tensor<i32>
      %c_56 = stablehlo.constant dense<3> : tensor<i32>
      %94 = stablehlo.add %93, %c_56 : tensor<i32>
      %c_57 = stablehlo.constant dense<0> : tensor<i32>
      %95 = stablehlo.compare LT, %94, %c_57, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_58 = stablehlo.constant dense<48> : tensor<i32>
      %96 = stablehlo.add %94, %c_58 : tensor<i32>
      %97 = stablehlo.select %95, %96, %94 : tensor<i1>, tensor<i32>
      %98 = stablehlo.dynamic_update_slice %90, %83, %97 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %99 = "stablehlo.collective_permute"(%82) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %100 = "stablehlo.collective_permute"(%83) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6], [0, 7]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_59 = stablehlo.constant dense<6> : tensor<i32>
      %101 = stablehlo.subtract %5, %c_59 : tensor<i32>
      %c_60 = stablehlo.constant dense<8> : tensor<i32>
      %102 = func.call @remainder(%101, %c_60) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_61 = stablehlo.constant dense<6> : tensor<i32>
      %103 = stablehlo.multiply %102, %c_61 : tensor<i32>
      %c_62 = stablehlo.constant dense<0> : tensor<i32>
      %104 = stablehlo.compare LT, %103, %c_62, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_63 = stablehlo.constant dense<48> : tensor<i32>
      %105 = stablehlo.add %103, %c_63 : tensor<i32>
      %106 = stablehlo.select %104, %105, %103 : tensor<i1>, tensor<i32>
      %107 = stablehlo.dynamic_update_slice %98, %99, %106 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %c_64 = stablehlo.constant dense<6> : tensor<i32>
      %108 = stablehlo.add %5, %c_64 : tensor<i32>
      %c_65 = stablehlo.constant dense<8> : tensor<i32>
      %109 = func.call @remainder(%108, %c_65) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_66 = stablehlo.constant dense<6> : tensor<i32>
      %110 = stablehlo.multiply %109, %c_66 : tensor<i32>
      %c_67 = stablehlo.constant dense<3> : tensor<i32>
      %111 = stablehlo.add %110, %c_67 : tensor<i32>
      %c_68 = stablehlo.constant dense<0> : tensor<i32>
      %112 = stablehlo.compare LT, %111, %c_68, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_69 = stablehlo.constant dense<48> : tensor<i32>
      %113 = stablehlo.add %111, %c_69 : tensor<i32>
      %114 = stablehlo.select %112, %113, %111 : tensor<i1>, tensor<i32>
      %115 = stablehlo.dynamic_update_slice %107, %100, %114 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %116 = "stablehlo.collective_permute"(%99) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %117 = "stablehlo.collective_permute"(%100) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6], [0, 7]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_70 = stablehlo.constant dense<7> : tensor<i32>
      %118 = stablehlo.subtract %5, %c_70 : tensor<i32>
      %c_71 = stablehlo.constant dense<8> : tensor<i32>
      %119 = func.call @remainder(%118, %c_71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_72 = stablehlo.constant dense<6> : tensor<i32>
      %120 = stablehlo.multiply %119, %c_72 : tensor<i32>
      %c_73 = stablehlo.constant dense<0> : tensor<i32>
      %121 = stablehlo.compare LT, %120, %c_73, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_74 = stablehlo.constant dense<48> : tensor<i32>
      %122 = stablehlo.add %120, %c_74 : tensor<i32>
      %123 = stablehlo.select %121, %122, %120 : tensor<i1>, tensor<i32>
      %124 = stablehlo.dynamic_update_slice %115, %116, %123 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %c_75 = stablehlo.constant dense<7> : tensor<i32>
      %125 = stablehlo.add %5, %c_75 : tensor<i32>
      %c_76 = stablehlo.constant dense<8> : tensor<i32>
      %126 = func.call @remainder(%125, %c_76) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_77 = stablehlo.constant dense<6> : tensor<i32>
      %127 = stablehlo.multiply %126, %c_77 : tensor<i32>
      %c_78 = stablehlo.constant dense<3> : tensor<i32>
      %128 = stablehlo.add %127, %c_78 : tensor<i32>
      %c_79 = stablehlo.constant dense<0> : tensor<i32>
      %129 = stablehlo.compare LT, %128, %c_79, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_80 = stablehlo.constant dense<48> : tensor<i32>
      %130 = stablehlo.add %128, %c_80 : tensor<i32>
      %131 = stablehlo.select %129, %130, %128 : tensor<i1>, tensor<i32>
      %132 = stablehlo.dynamic_update_slice %124, %117, %131 : (tensor<48xf32>, tensor<3xf32>, tensor<i32>) -> tensor<48xf32>
      %133 = stablehlo.broadcast_in_dim %132, dims = [1] : (tensor<48xf32>) -> tensor<1x48xf32>
      sdy.return %133 : tensor<1x48xf32>
    } : (tensor<8x6xf32>) -> tensor<8x48xf32>
    return %0 : tensor<8x48xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}

